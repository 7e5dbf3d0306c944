import { levelOf } from '../logs/level.ts'
import type { Line } from '../logs/log-line.tsx'

/** `most` limits the lines of a quote. `apart` is the distance up to which two errors belong together. */
const maxLines = 5
const apart = 3

/**
 * Quotes the last errors of a step's output that are close together, starting with the first of these.
 * Without an error, quotes the last lines.
 */
export function quoteOf(output: Line[]): Line[] {
  const said = output.filter(({ text }) => text.trim() !== '')
  let at = said.findLastIndex(isError)
  if (at < 0) return said.slice(-3)
  for (let before = at - 1; before >= 0 && at - before <= apart; before--)
    if (isError(said[before]!)) at = before
  return said.slice(at, at + maxLines)
}

const isError = ({ text }: Line) => levelOf(text) === 'error'
