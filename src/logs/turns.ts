/** Lets only so many work at a time; the others wait in line. */
export class Turns {
  #free: number
  readonly #line: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves when it is one's turn; what it answers gives the turn back. */
  async take(): Promise<Disposable> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#line.push(resolve))
    return { [Symbol.dispose]: () => this.#giveBack() }
  }

  #giveBack() {
    const next = this.#line.shift()
    if (next) next()
    else this.#free++
  }
}
