type Waiting = { ownerId: string | null }

/** Whose turn it is where many owners wait for few slots: of those with fewest, who had one longest ago. */
export class RoundRobin {
  readonly #lastTurns = new Map<string | null, number>()
  #turns = 0

  /** The next of those that wait, which are in the order in which they came; undefined if there is none. */
  next<Item extends Waiting>(waiting: Item[], running: Waiting[]): Item | undefined {
    const slots = ({ ownerId }: Waiting) =>
      running.filter((other) => other.ownerId === ownerId).length
    const lastTurn = ({ ownerId }: Waiting) => this.#lastTurns.get(ownerId) ?? 0
    const [next] = waiting.toSorted(
      (a, b) => slots(a) - slots(b) || lastTurn(a) - lastTurn(b), // stable: else the oldest
    )
    if (next) this.#lastTurns.set(next.ownerId, ++this.#turns)
    return next
  }
}
