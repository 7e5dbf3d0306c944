import type { Line } from './log-line.tsx'
import { PieceMask } from './mask-pieces.ts'
import { noMask } from './mask.ts'
import type { Mask } from './mask.ts'
import type { Masks, SourceMask } from './masks.ts'

/** Milliseconds by which the clocks of the engine and of Davit may differ. */
const skew = 60_000

/**
 * Stored lines as they may be shown now, in order: what was marked secret after they were written is
 * hidden, and stays so when it is no secret any more.
 */
export class ShownLines {
  readonly #mask: Mask
  readonly #pieces = new PieceMask<Line['stream']>()

  constructor({ mask }: SourceMask) {
    this.#mask = mask
  }

  of(line: Line): Line {
    if (this.#mask === noMask) return line
    const { stream, text, time } = line
    const shown = this.#pieces.apply(this.#mask, { stream, text, since: time - skew })
    return shown === text ? line : { ...line, text: shown }
  }
}

/** The lines of a batch as they may be shown now, where the secrets are others than when it was masked; else null. */
export async function changedLines(
  masks: Masks,
  sourceId: string,
  { lines, state }: { lines: Line[]; state: string | null },
): Promise<{ lines: Line[]; state: string } | null> {
  if (state === masks.stateOf(sourceId)) return null
  const current = await masks.of(sourceId)
  const shown = new ShownLines(current)
  return { lines: lines.map((line) => shown.of(line)), state: current.state }
}
