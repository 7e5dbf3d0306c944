import { LogBatch } from './log-batch.ts'
import type { Line } from './log-line.tsx'
import { noMask, PieceMask } from './mask.ts'
import type { Mask } from './mask.ts'
import type { Masks } from './masks.ts'

/** Milliseconds by which the clocks of the engine and of Davit may differ. */
const skew = 60_000

/**
 * Stored lines as they may be shown now, in order: what was marked secret after they were written is
 * hidden, and stays so when it is no secret any more.
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

/** A batch as it may be shown now: itself unless the secrets are others than when it was masked. */
export async function shownNow(masks: Masks, sourceId: string, batch: LogBatch) {
  if (batch.state === masks.stateOf(sourceId)) return batch
  const { mask, state } = await masks.of(sourceId)
  const shown = new ShownLines(mask)
  return new LogBatch(
    batch.lines.map((line) => shown.of(line)),
    state,
  )
}
