import type { Job, Slot } from './store.ts'

export type SlotUse = {
  job: Job
  /** The slot that it has or has lent. */
  slot: Slot | null
  /** True while it has lent its slot. */
  isAway: boolean
  /** Gives it a slot again; only set while it waits for one. */
  resume?: () => void
}

export type SlotCalls = {
  /** Leaves its slot to all others, for good or until `takeSlot`: it does nothing meanwhile. */
  releaseSlot: () => void
  /** Lends its slot to other owners while it waits for a remote side, until `takeSlot`. */
  lendSlot: () => void
  /** Waits for a slot again, in turn. `onWait` is called when none is free. */
  takeSlot: (onWait?: () => void) => Promise<void>
}

export const hasSlot = ({ slot, isAway }: SlotUse) => slot !== null && !isAway

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
    const { slot } = use.job
    if (slot === null || hasSlot(use)) return
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      delete use.resume
      reject(signal.reason)
    }
    use.resume = () => {
      use.slot = slot
      use.isAway = false
      delete use.resume
      resolve()
    }
    signal.addEventListener('abort', leave, { once: true })
    wake()
    if (!hasSlot(use)) onWait?.()
    await promise.finally(() => signal.removeEventListener('abort', leave))
  },
})

/** What may have a slot now. Lent ones count for their owner, who could otherwise have any number of jobs at once. */
export function entitled(queued: Job[], { running, most }: { running: SlotUse[]; most: number }) {
  const counted = running.filter(({ slot }) => slot !== null).map(({ job }) => job)
  const returning = running.filter(({ resume }) => resume).map(({ job }) => job)
  const mayHaveMore = ({ ownerId }: Job) =>
    counted.filter((other) => other.ownerId === ownerId).length < most
  return [...returning, ...queued].filter((job) => counted.includes(job) || mayHaveMore(job))
}

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
