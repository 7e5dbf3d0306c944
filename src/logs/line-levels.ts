import { levelOf, startOf } from './level.ts'
import type { Level } from './level.ts'

/** The writer of a line: lines of different writers can alternate. */
type Written = { stream: string; text: string; container?: string }

/** The prefix of a build's lines. */
const step = /^#\d+ (?:\d+\.\d+ )?/
const indented = /^[ \t]+(?!\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\b)\S/

/**
 * Continuation lines without indentation: stack traces of Java, .NET, JavaScript, Python, Go, Rust, Ruby
 * and PHP, and what Postgres adds.
 */
const goingOn = [
  /^(?:Caused by|Suppressed|Wrapped by): |^\.\.\. \d+ (?:more|common frames)|^-+(?:>| End of )/,
  /^at \S.*(?:\)|:\d+)$|^[}\])]+[,;]?$|^\[cause\]: /,
  /^File "[^"]*", line \d|^During handling of the above |^The above exception was the direct cause /,
  /^goroutine \d+ \[|^created by |^\[signal |^exit status \d+$|^[\w./*()$-]{1,200}\(.*\)(?: in goroutine \d+)?$/,
  /(?:^| )(?:DETAIL|HINT|CONTEXT|STATEMENT): {2}/,
  /^stack backtrace:$|^note: run with |^from \S+:\d+:in |^Stack trace:$/,
]
const php = /^#\d+ (?:\S+\(\d+\): |\{main\})/

/** After these, the line that follows the indented ones names the error by its class. */
const opening = /Traceback \(most recent call last\):/
const named = /^(?:\w+\.)*[A-Z]\w*(?:: |:?$)/

/** Determines levels in order. Lines that belong together, such as a stack trace, have that of the first. */
export class LineLevels {
  readonly #last = new Map<string, { level: Level | null; isOpen: boolean }>()

  of({ stream, text, container = '' }: Written): Level | null {
    const plain = startOf(text).trimEnd()
    const isPhp = php.test(plain)
    const part = (!isPhp && step.exec(plain)?.[0]) || ''
    const own = plain.slice(part.length)
    const key = `${stream} ${container} ${part.split(' ', 1)[0]}`
    const last = this.#last.get(key)
    if (own === '') return null // an empty line between the parts of a trace
    const isIndented = indented.test(own)
    const isClass = last?.isOpen && named.test(own)
    const isPart = isPhp || isIndented || isClass || goingOn.some((form) => form.test(own))
    const level = (isPart ? last?.level : null) ?? levelOf(text)
    const isOpen = opening.test(own) || (last?.isOpen === true && isIndented)
    if (this.#last.size > mostKeys) this.#last.clear()
    this.#last.set(key, { level, isOpen })
    return level
  }
}

/** Maximum of containers, streams and steps that are tracked. */
const mostKeys = 1000

/** Earlier lines that are read to find what the first lines belong to: Java prints 1,024 of a trace. */
export const leadingLines = 1100

/** Returns a filter for consecutive lines; without levels all lines match. */
export function atLevels(wanted: Level[] | undefined) {
  if (!wanted) return () => true
  const levels = new LineLevels()
  return (line: Written) => {
    const level = levels.of(line)
    return level !== null && wanted.includes(level)
  }
}
