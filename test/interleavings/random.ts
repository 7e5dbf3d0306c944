/** A stream of numbers that a seed decides. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** From 0, below 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  below = (count: number) => Math.floor(this.next() * count)

  chance = (probability: number) => this.next() < probability

  pick = <T>(items: readonly T[]): T => items[this.below(items.length)]!

  shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, at: this.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item)

  /** One of several, the likelier the more it weighs. */
  weighed<T extends { weight: number }>(items: readonly T[]): T {
    let at = this.next() * items.reduce((sum, { weight }) => sum + weight, 0)
    return items.find(({ weight }) => (at -= weight) < 0) ?? items.at(-1)!
  }
}
