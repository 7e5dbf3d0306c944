import { setImmediate as turn } from 'node:timers/promises'

/** Milliseconds of work in a row, after which others have their turn. */
const atOnce = 10

/** Keeps long work from holding up everything else: call `step` often, the cheaper the better. */
export class Pace {
  #end = performance.now() + atOnce

  /** Whether it is time for others. */
  get isOver() {
    return performance.now() >= this.#end
  }

  async step() {
    if (!this.isOver) return
    await turn()
    this.#end = performance.now() + atOnce
  }
}
