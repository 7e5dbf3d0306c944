import { levelOf } from './level.ts'
import type { Level } from './level.ts'

/** What a line is written by: lines of others can stand between those that belong together. */
type Written = { stream: string; text: string; container?: string }

/** Characters of a line in which it is looked for what it belongs to. */
const looked = 400

const escapes = /\u001b\[[\d;]*m/g
/** What a build's lines begin with. */
const step = /^#\d+ (?:\d+\.\d+ )?/
const indented = /^[ \t]+(?!\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL)\b)\S/

/** How lines go on that aren't indented: stack traces of Java, .NET, JavaScript, Python, Go, Rust, Ruby and PHP, and what Postgres adds. */
const goingOn = [
  /^(?:Caused by|Suppressed|Wrapped by): |^\.\.\. \d+ (?:more|common frames)|^-+(?:>| End of )/,
  /^at \S.*(?:\)|:\d+)$|^[}\])]+[,;]?$|^\[cause\]: /,
  /^File "[^"]*", line \d|^During handling of the above |^The above exception was the direct cause /,
  /^goroutine \d+ \[|^created by |^\[signal |^exit status \d+$|^[\w./*()$-]{1,200}\(.*\)(?: in goroutine \d+)?$/,
  /(?:^| )(?:DETAIL|HINT|CONTEXT|STATEMENT): {2}/,
  /^stack backtrace:$|^note: run with |^from \S+:\d+:in |^Stack trace:$/,
]
const php = /^#\d+ (?:\S+\(\d+\): |\{main\})/

/** Where the line behind indented ones says what it was, by the name of a class. */
const opening = /Traceback \(most recent call last\):/
const named = /^(?:\w+\.)*[A-Z]\w*(?:: |:?$)/

/**
 * The levels of lines in their order: those that belong together, such as a stack trace, have the one of
 * the first of them.
 */
export class LineLevels {
  readonly #last = new Map<string, { level: Level | null; isOpen: boolean }>()

  of({ stream, text, container = '' }: Written): Level | null {
    const plain = text.slice(0, looked).replace(escapes, '').trimEnd()
    const isPhp = php.test(plain)
    const part = (!isPhp && step.exec(plain)?.[0]) || ''
    const own = plain.slice(part.length)
    const key = `${stream} ${container} ${part.split(' ', 1)[0]}`
    const last = this.#last.get(key)
    if (own === '') return null // what stands between the parts of a trace
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

/** Containers, streams and steps that are told apart. */
const mostKeys = 1000

/** Lines before those that are wanted, from which it is seen what the first belong to: Java prints 1,024 of a trace. */
export const leadingLines = 1100

/** Whether lines, one after another, are of these levels; every one is where none are given. */
export function atLevels(wanted: Level[] | undefined) {
  if (!wanted) return () => true
  const levels = new LineLevels()
  return (line: Written) => {
    const level = levels.of(line)
    return level !== null && wanted.includes(level)
  }
}
