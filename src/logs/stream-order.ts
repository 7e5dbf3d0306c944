import type { NewLine } from './log-line.tsx'

type Written = Pick<NewLine, 'stream'>

type Clock<Line> = {
  /** When a line was written, in milliseconds, as far as that is known. */
  timeOf: (line: Line) => number
  /** Milliseconds by which that may be too early for a line of stderr. */
  lead: number
}

/** Milliseconds beyond which lines stand in the order in which they came: a clock may have been set. */
const longest = 250

/**
 * Lines of stdout and stderr in the order in which they were probably written, between those of Davit.
 * Both are read beside each other, and a line has the time at which it was come to: of two that a program
 * writes one right after the other the later is as often the first. Results come before the errors that
 * end them.
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
