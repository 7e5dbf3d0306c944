import type { Job, Slot } from './store.ts'

export type SlotUse = {
  /** The slot it needs at the moment. */
  slot: Slot | null
  /** True while it has lent its slot. */
  isAway: boolean
  /** Gives it a slot again; only set while it waits for one. */
  resume?: () => void
}

export type SlotCalls = {
  releaseSlot: () => void
  /** Lends its slot to others while it waits for a remote side, until `takeSlot`. */
  lendSlot: () => void
  /** Waits for a slot again, in turn. `onWait` is called when none is free. */
  takeSlot: (onWait?: () => void) => Promise<void>
}

export const slotCalls = (
  use: SlotUse,
  { signal, wake }: { signal: AbortSignal; wake: () => void },
): SlotCalls => ({
  releaseSlot() {
    if (use.slot === null) return
    use.slot = null
    wake()
  },
  lendSlot() {
    use.isAway = true
    wake()
  },
  async takeSlot(onWait) {
    if (use.slot === null || !use.isAway) return
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      delete use.resume
      reject(signal.reason)
    }
    use.resume = () => {
      use.isAway = false
      delete use.resume
      resolve()
    }
    signal.addEventListener('abort', leave, { once: true })
    wake()
    if (use.isAway) onWait?.()
    await promise.finally(() => signal.removeEventListener('abort', leave))
  },
})

type Waiting = Pick<Job, 'ownerId'>

/** Chooses the owner of the next slot: of those with the fewest, the one served longest ago. */
export class RoundRobin {
  readonly #lastTurns = new Map<string | null, number>()
  #turns = 0

  /** The queued jobs are in FIFO order. Returns undefined if there are none. */
  next<Item extends Waiting>(waiting: Item[], running: Waiting[]): Item | undefined {
    const slots = ({ ownerId }: Waiting) =>
      running.filter((other) => other.ownerId === ownerId).length
    const lastTurn = ({ ownerId }: Waiting) => this.#lastTurns.get(ownerId) ?? 0
    const [next] = waiting.toSorted(
      (a, b) => slots(a) - slots(b) || lastTurn(a) - lastTurn(b), // stable: otherwise the oldest
    )
    if (next) this.#lastTurns.set(next.ownerId, ++this.#turns)
    return next
  }
}
