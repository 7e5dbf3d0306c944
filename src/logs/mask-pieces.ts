import { isCut } from '../docker/index.ts'
import type { Mask } from './mask.ts'

/** Masks lines of which the long ones come in pieces, each on its own. */
export class PieceMask<Stream extends string> {
  /** The streams whose last line goes on in their next one. */
  readonly #unfinished = new Set<Stream>()

  apply(mask: Mask, { stream, text, since }: { stream: Stream; text: string; since?: number }) {
    const cuts = { before: this.#unfinished.has(stream), after: isCut(text) }
    if (cuts.after) this.#unfinished.add(stream)
    else this.#unfinished.delete(stream)
    return mask(text, { cuts, ...(since !== undefined && { since }) })
  }
}
