import { LogBatch } from './log-batch.ts'
import type { Line } from './log-line.tsx'
import { noMask, PieceMask } from './mask.ts'
import type { Mask } from './mask.ts'
import type { Masks } from './masks.ts'

/** In milliseconds: the possible difference between the clocks of the engine and of Davit. */
const skew = 60_000

/**
 * Shows stored lines in order with today's masks: values that were marked secret later are masked, and stay
 * so when they are no longer secret.
 */
export class ShownLines {
  readonly #mask: Mask
  readonly #pieces = new PieceMask<Line['stream']>()

  constructor(mask: Mask) {
    this.#mask = mask
  }

  of(line: Line): Line {
    if (this.#mask === noMask) return line
    const { stream, text, time } = line
    const shown = this.#pieces.apply(this.#mask, { stream, text, since: time - skew })
    return shown === text ? line : { ...line, text: shown }
  }
}

/** Returns the batch itself unless the secrets have changed since it was masked. */
export async function shownNow(masks: Masks, sourceId: string, batch: LogBatch) {
  if (batch.state === masks.stateOf(sourceId)) return batch
  const { mask, state } = await masks.of(sourceId)
  const shown = new ShownLines(mask)
  return new LogBatch(
    batch.lines.map((line) => shown.of(line)),
    state,
  )
}
