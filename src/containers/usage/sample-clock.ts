/** Milliseconds by which the clock may gain or lose on the time that passed before it has jumped. */
const tolerance = 60_000

/** Milliseconds for which a clock must have stood before what is old by it is removed. */
const proof = 15 * 60_000

/**
 * Tells whether the clock can be believed: one that was just set, or that Davit just started with,
 * may be set again.
 */
export class ClockTrust {
  #offset: number | undefined
  #since = 0

  /** In milliseconds: what the clock says, and the time that passed by a counter that is never set. */
  isProven({ now, passed }: { now: number; passed: number }) {
    const offset = now - passed
    if (this.#offset === undefined || Math.abs(offset - this.#offset) > tolerance)
      this.#since = passed
    this.#offset = offset
    return passed - this.#since >= proof
  }
}
