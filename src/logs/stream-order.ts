import type { NewLine } from './log-line.tsx'

type Written = Pick<NewLine, 'stream'>

type Clock<Line> = {
  /** When a line was written, in milliseconds, as far as known. */
  timeOf: (line: Line) => number
  /** In milliseconds: a line of stderr may have a time that is this much too early. */
  lead: number
}

/** In milliseconds: with a greater difference, lines keep their order, as the clock may have been set. */
const longest = 250

/**
 * Orders lines of stdout and stderr as they were probably written, between Davit's own. Both streams are read
 * in parallel, and a line has the time at which it was read, so of two lines written in quick succession
 * either may be first. Results are placed before the errors that end them.
 */
export function inStreamOrder<Line extends Written>(lines: Line[], clock: Clock<Line>): Line[] {
  if (!lines.some(isError) || lines.every(isError)) return lines
  const ordered: Line[] = []
  let from = 0
  for (let at = 0; at <= lines.length; at++) {
    if (at < lines.length && lines[at]!.stream !== 'system') continue
    ordered.push(...merged(lines.slice(from, at), clock), ...lines.slice(at, at + 1))
    from = at + 1
  }
  return ordered
}

function merged<Line extends Written>(lines: Line[], { timeOf, lead }: Clock<Line>): Line[] {
  const places = [...lines.keys()]
  const errs = places.filter((at) => isError(lines[at]!))
  const outs = places.filter((at) => !isError(lines[at]!))
  const ordered: Line[] = []
  let [out, err] = [0, 0]
  while (out < outs.length || err < errs.length) {
    const [a, b] = [outs[out], errs[err]]
    const isNextError = a === undefined || (b !== undefined && comesFirst(b, a))
    ordered.push(lines[isNextError ? errs[err++]! : outs[out++]!]!)
  }
  return ordered

  function comesFirst(error: number, result: number) {
    const by = timeOf(lines[result]!) - timeOf(lines[error]!)
    return Math.abs(by) > longest ? error < result : by > lead
  }
}

const isError = ({ stream }: Written) => stream === 'stderr'
