import { levelOf } from '../logs/level.ts'
import type { Line } from '../logs/log-line.tsx'

/** Lines that a failure quotes, and those between two errors that belong together. */
const most = 5
const apart = 3

/**
 * The lines of a step's output that say why it failed: the errors before its end as far as they stand
 * together, from the first of them on; without an error, its last words.
 */
export function quoteOf(output: Line[]): Line[] {
  const said = output.filter(({ text }) => text.trim() !== '')
  let at = said.findLastIndex(isError)
  if (at < 0) return said.slice(-3)
  for (let before = at - 1; before >= 0 && at - before <= apart; before--)
    if (isError(said[before]!)) at = before
  return said.slice(at, at + most)
}

const isError = ({ text }: Line) => levelOf(text) === 'error'
