import { KeyedLock } from '../../platform/semaphore.ts'

type Claim = { ownerId: string; alone: boolean }

/**
 * Keeps pulls with a login apart from the builds of other owners: for a moment the engine has the pulled
 * image under its public name, which any build could use. First come, first served.
 */
export class ImageLock {
  readonly #held = new Set<Claim>()
  readonly #waiting = new Map<Claim, () => void>()
  /** Public names under which something is being pulled. */
  readonly names = new KeyedLock()

  /** Number of callers that wait. */
  get waiting() {
    return this.#waiting.size
  }

  /** True when this owner pulls and another owner waits for it. */
  isAwaited(ownerId: string) {
    const holds = [...this.#held].some((claim) => claim.alone && claim.ownerId === ownerId)
    return holds && this.#waiting.keys().some((claim) => claim.ownerId !== ownerId)
  }

  /** Runs beside other builds, but not beside pulls of other owners. */
  share<Result>(ownerId: string, signal: AbortSignal, work: () => Promise<Result>) {
    return this.#run({ ownerId, alone: false }, signal, work)
  }

  /** Runs while no other owner builds and no one else pulls. */
  alone<Result>(ownerId: string, signal: AbortSignal, work: () => Promise<Result>) {
    return this.#run({ ownerId, alone: true }, signal, work)
  }

  async #run<Result>(claim: Claim, signal: AbortSignal, work: () => Promise<Result>) {
    signal.throwIfAborted()
    await this.#acquire(claim, signal)
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      this.#held.delete(claim)
      this.#admit()
    }
  }

  async #acquire(claim: Claim, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.set(claim, resolve)
    const leave = () => {
      if (!this.#waiting.delete(claim)) return
      reject(signal.reason)
      this.#admit()
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#admit()
    await promise.finally(() => signal.removeEventListener('abort', leave))
  }

  /** No one overtakes a waiter that it conflicts with, so that pulls aren't starved. */
  #admit() {
    const before = [...this.#held]
    for (const [claim, enter] of [...this.#waiting]) {
      if (before.every((other) => canMeet(claim, other))) {
        this.#waiting.delete(claim)
        this.#held.add(claim)
        enter()
      }
      before.push(claim)
    }
  }
}

const canMeet = (a: Claim, b: Claim) =>
  a.alone || b.alone ? a.ownerId === b.ownerId && a.alone !== b.alone : true

/** One per process, since an engine's image names are shared. */
export const imageLock = new ImageLock()
