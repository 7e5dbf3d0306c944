const [second, minute, hour] = [1000, 60_000, 3_600_000]

/** Milliseconds until the next attempt, by the failed ones; about a day together. */
const delays = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour]
const longestDelay = 6 * hour

/** What couldn't be sent for a day is given up; a clock that was put forward alone is no reason. */
const givenUp = { after: 24 * hour, leastTries: 5 }

/** Failed attempts of a lane in a row after which what was never tried is given up with the rest. */
const mostInARow = 10

/** What failed once is no reason to wait longer. */
export const shortestDelay = delays[0]!

const delayAfter = (failures: number) => delays[Math.max(failures, 1) - 1] ?? longestDelay

type Failed = {
  /** Of this message, before this attempt. */
  tries: number
  /** Failed attempts of its lane, before this one; 0 if it failed and others were accepted since. */
  inARow: number | undefined
  /** Another has just failed, and this one was to show whether that is the receiver's doing. */
  isBehind: boolean
  /** In milliseconds, as the receiver said; or 0. */
  retryAfter: number
}

/**
 * What follows when a message wasn't accepted. All of its lane wait, in their order. But one that failed some times
 * may be at fault itself, and must not keep the others: one of them is tried, too.
 */
export function afterFailure({ tries, inARow, isBehind, retryAfter }: Failed, now: number) {
  const isAlone = inARow === 0 && tries > 0
  const before = inARow ?? tries // a process that has just started knows of no others
  const ofLane = isAlone ? 0 : isBehind ? before : before + 1
  const pause = Math.min(Math.max(delayAfter(ofLane), retryAfter), longestDelay)
  const isSuspect = tries + 1 >= givenUp.leastTries && !isBehind
  return {
    inARow: ofLane,
    /** Milliseconds until its next attempt. */
    wait: Math.max(pause, delayAfter(tries + 1)),
    /** Milliseconds until the next attempt of its lane. */
    hold: isSuspect || isAlone ? 0 : pause,
    /** One behind it is tried. */
    letsPass: isSuspect && !isAlone,
    /** What is given up if it was stored before that time. */
    givesUp: {
      before: new Date(now - givenUp.after),
      own: tries + 1 >= givenUp.leastTries,
      all: isBehind && ofLane >= mostInARow,
    },
  }
}
