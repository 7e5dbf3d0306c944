import { KeyedLock } from '../platform/semaphore.ts'

/** An image that a build uses. The platform is empty for the engine's own. */
export type WantedImage = { image: string; platform: string }

export const keyOf = ({ image, platform }: WantedImage) => `${image} ${platform}`

/** Counts the builds that use each image, by server and public name. */
export class BaseImages {
  readonly #locks = new KeyedLock()
  readonly #inUse = new Map<string, { builds: number; pulled: boolean }>()

  /** Pulls and releases of an image come one after the other. */
  alone<Result>(image: string, signal: AbortSignal, work: () => Promise<Result>) {
    return this.#locks.run(image, signal, work)
  }

  /** `pulled` is true for an image that the engine didn't have before. */
  borrow(image: string, { pulled }: { pulled: boolean }) {
    const use = this.#inUse.get(image) ?? { builds: 0, pulled: false }
    this.#inUse.set(image, { builds: use.builds + 1, pulled: use.pulled || pulled })
  }

  /** Returns true when the last build has ended that used an image which was pulled for builds. */
  giveBack(image: string) {
    const { builds, pulled } = this.#inUse.get(image)!
    if (builds > 1) this.#inUse.set(image, { builds: builds - 1, pulled })
    else this.#inUse.delete(image)
    return builds === 1 && pulled
  }
}
