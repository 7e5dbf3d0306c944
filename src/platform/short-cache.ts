type Question<Value> = { find: () => Promise<Value>; signal: AbortSignal }
type Answer = { value: Promise<unknown>; signal: AbortSignal; until: number }

/** Caches a limited number of results, the newest, for a while. */
export class ShortCache {
  readonly #answers = new Map<string, Answer>()

  constructor(readonly options: { milliseconds: number; max: number }) {}

  /** The cached result for the key, else a new one. Failures aren't cached. */
  async remember<Value>(key: string, question: Question<Value>): Promise<Value> {
    const known = this.#answers.get(key)
    if (!known || known.until <= performance.now()) return this.#ask(key, question)
    try {
      return (await known.value) as Value
    } catch (error) {
      // the first caller has aborted: that must not affect the others
      if (known.signal.aborted) return this.remember(key, question)
      throw error
    }
  }

  #ask<Value>(key: string, { find, signal }: Question<Value>): Promise<Value> {
    const value = find()
    const answer = { value, signal, until: performance.now() + this.options.milliseconds }
    this.#answers.delete(key)
    this.#answers.set(key, answer)
    value.catch(() => {
      if (this.#answers.get(key) === answer) this.#answers.delete(key)
    })
    if (this.#answers.size > this.options.max) {
      this.#answers.delete(this.#answers.keys().next().value!)
    }
    return value
  }
}
