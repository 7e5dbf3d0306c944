import type { Deps } from '../../deps.ts'
import { Failure } from '../../platform/errors.ts'
import { repeat } from '../../platform/repeat.ts'
import { bytes } from '../../web/units.ts'
import { diskSpace } from './disk-space.ts'
import { goesByDefault } from './plan.ts'
import type { Judged } from './plan.ts'
import { bytesOf } from './prune.ts'
import { countByKind } from './runs.ts'
import type { PruneRun } from './runs.ts'
import { getSchedule, saveSchedule, scheduleSetAt } from './schedule-store.ts'
import type { Schedule } from './schedule-store.ts'

type CleanUpDeps = Pick<Deps, 'db' | 'docker' | 'config' | 'pruneRuns'>

/** Milliseconds between looks at the clock. */
const interval = 60_000

/** Runs the clean-up once a day at its hour; one that was missed runs at the next look of that day. */
export const keepSchedule = (deps: CleanUpDeps, { signal }: { signal: AbortSignal }) =>
  repeat(interval, () => runIfDue(deps, new Date()), { signal, failed: 'the clean-up did not run' })

/** Whether it ran. An engine that is away is told, and tried again at the next look. */
export async function runIfDue(deps: CleanUpDeps, now: Date): Promise<boolean> {
  const { db, pruneRuns } = deps
  const schedule = getSchedule(db)
  if (!isDue(schedule, { now, setAt: scheduleSetAt(db) }) || pruneRuns.isBusy) return false
  try {
    const lastOutcome = await run(deps, schedule)
    saveSchedule(db, { lastRunAt: now, lastOutcome })
    return true
  } catch (error) {
    if (error instanceof Failure) {
      saveSchedule(db, { lastOutcome: `Could not run: ${error.message}` })
      return false
    }
    saveSchedule(db, { lastRunAt: now, lastOutcome: 'It failed. The log of Davit says why.' })
    throw error
  }
}

/** The hour of today has come since it last ran, and since it was set. */
export function isDue(
  { enabled, hour, lastRunAt }: Pick<Schedule, 'enabled' | 'hour' | 'lastRunAt'>,
  { now, setAt }: { now: Date; setAt: Date | null },
) {
  if (!enabled) return false
  const due = new Date(now)
  due.setHours(hour, 0, 0, 0)
  // a time to come is one of a clock that has been put back since
  const isSince = (time: Date | null) => time !== null && time >= due && time <= now
  return now >= due && !isSince(lastRunAt) && !isSince(setAt)
}

async function run(deps: CleanUpDeps, { what, threshold }: Schedule): Promise<string> {
  const space = threshold > 0 ? await diskSpace(deps) : null
  if (space && space.used < threshold)
    return `The disk was ${space.used} % full, which is under ${threshold} %: nothing was done.`
  const actor = { id: null, email: 'the clean-up of every day' }
  const run = deps.pruneRuns.start({ actor, address: null, what, choose: isOldEnough })
  await run.done
  if (run.error && run.outcome.removed.length === 0) throw run.error
  return outcomeOf(run)
}

/** A build cache of today makes the next build fast; it is worth more than its room. */
const isOldEnough = (thing: Judged) => goesByDefault(thing) && thing.idle !== false

function outcomeOf({ outcome: { removed, skipped }, error }: PruneRun) {
  const went = `Removed ${countByKind(removed)}, ${bytes(bytesOf(removed))}.`
  if (error) return `${went} It broke off before the end.`
  return skipped.length > 0 ? `${went} Left ${countByKind(skipped)}.` : went
}
