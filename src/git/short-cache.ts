/** Remembers answers for a while, the newest so many of them. */
export class ShortCache {
  readonly #answers = new Map<string, { value: unknown; until: number }>()

  constructor(readonly options: { milliseconds: number; most: number }) {}

  /** What was found under the key within that time, else what is found now. A fault is not kept. */
  async remember<Value>(key: string, find: () => Promise<Value>): Promise<Value> {
    const known = this.#answers.get(key)
    if (known && known.until > Date.now()) return known.value as Value
    const value = await find()
    this.#answers.delete(key)
    this.#answers.set(key, { value, until: Date.now() + this.options.milliseconds })
    if (this.#answers.size > this.options.most) {
      this.#answers.delete(this.#answers.keys().next().value!)
    }
    return value
  }
}
