import { withoutTrailing } from '../../platform/without-trailing.ts'
import type { Escape } from './directives.ts'
import { escapeOf } from './directives.ts'
import { splitFlags, unquote, wordsOf } from './words.ts'
import { jsonOrNull } from '../../platform/json.ts'

export type Instruction = {
  /** In upper case, such as `FROM`. */
  name: string
  /** Follows ONBUILD, so it runs in builds on top of the image. */
  onbuild: boolean
  /** Without quotes, such as `--from=build`. */
  flags: string[]
  /** The text after the flags, with continued lines joined. */
  text: string
  heredocs: Heredoc[]
  /** The first line of the instruction, counted from 1. */
  line: number
}

/** `expand` is true when the name isn't quoted: variables in the text are then expanded. */
export type Heredoc = { name: string; expand: boolean; text: string }

/** Syntax that engines read differently. */
export type Dialect = {
  /** Texts after `<<EOF`. The classic builder and the first engines with BuildKit don't support them. */
  heredocs: boolean
  /** Two escape characters at the end of a line continue it; in newer engines they are one escaped. */
  doubledContinues: boolean
  escape: Escape
}

export type Reading = { escape: Escape; instructions: Instruction[] }

/**
 * Returns all possible readings of a Dockerfile: nearly always one, and another for each syntax that engines
 * read differently, unless it is known how this engine does. Checks must consider all of them.
 */
export function readingsOf(text: string, known: Partial<Dialect> = {}): Reading[] {
  const both = [true, false]
  const either = text.includes('<<') ? both : [true]
  const heredocs = known.heredocs === undefined ? either : [known.heredocs]
  const doubled = /(\\\\|``)[ \t\r]*$/m.test(text) ? both : [false]
  const escapes = [...new Set(both.map((lenient) => escapeOf(text, { lenient })))]
  return heredocs.flatMap((heredocs) =>
    doubled.flatMap((doubledContinues) =>
      escapes.map((escape) => readDockerfile(text, { heredocs, doubledContinues, escape })),
    ),
  )
}

/** Invalid instructions are kept unchanged. */
export function readDockerfile(text: string, dialect: Dialect): Reading {
  const { escape } = dialect
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  const continues = continuation(dialect)
  const instructions: Instruction[] = []
  for (let at = 0; at < lines.length;) {
    const begun = at
    const [first, goesOn] = continues(trimEnd(lines[at++]!).trimStart())
    if (first.startsWith('#') || (first === '' && !goesOn)) continue
    const parts = [first]
    for (let open = goesOn; open && at < lines.length; at++) {
      const line = trimEnd(lines[at]!)
      if (/^\s*(#|$)/.test(line)) continue
      const [part, more] = continues(line)
      parts.push(part)
      open = more
    }
    const instruction = instructionOf(parts.join(''), { escape, line: begun + 1 })
    if (dialect.heredocs) at = takeHeredocs(instruction, { lines, at })
    instructions.push(instruction)
  }
  return { escape, instructions }
}

const trimEnd = (line: string) => withoutTrailing(line, '\r')

/** Returns a function that removes the line continuation character, and says whether there was one. */
function continuation({ escape, doubledContinues }: Dialect) {
  return (line: string): [text: string, goesOn: boolean] => {
    const text = withoutTrailing(line, ' \t')
    const isDoubled = text.at(-2) === escape && !doubledContinues
    if (text.startsWith('#') || text.at(-1) !== escape || isDoubled) return [line, false]
    return [text.slice(0, -1), true]
  }
}

function instructionOf(
  whole: string,
  { escape, line }: { escape: Escape; line: number },
): Instruction {
  let rest = whole.trim()
  let onbuild = false
  for (;;) {
    const end = rest.search(/[\t\v\f\r ]/)
    const name = (end === -1 ? rest : rest.slice(0, end)).toUpperCase()
    const { flags, text } = splitFlags(end === -1 ? '' : rest.slice(end), escape)
    if (name !== 'ONBUILD' || text === '') {
      return { name, onbuild, flags, text, heredocs: [], line }
    }
    onbuild = true
    rest = text
  }
}

const mayHaveHeredocs = ['RUN', 'COPY', 'ADD']

/** Reads the instruction's here-documents, and returns the line after them. */
function takeHeredocs(instruction: Instruction, { lines, at }: { lines: string[]; at: number }) {
  const { name, text } = instruction
  if (!mayHaveHeredocs.includes(name) || !text.includes('<<') || isJsonList(text)) return at
  // BuildKit always uses a backslash as the escape character here, whatever the directive says.
  for (const word of wordsOf(text.replace(/<<(-?)\s+(?=\S)/g, '<<$1'), '\\')) {
    const [, chomp, quoted] = /^\d*<<(-?)([^<]+)$/.exec(word) ?? []
    if (quoted === undefined) continue
    const delimiter = unquote(quoted, '\\')
    const content: string[] = []
    for (; at < lines.length; at++) {
      const line = trimEnd(lines[at]!)
      if ((chomp ? line.replace(/^\t+/, '') : line) === delimiter) break
      content.push(lines[at]!)
    }
    at++
    const heredoc = { name: delimiter, expand: delimiter === quoted, text: content.join('\n') }
    instruction.heredocs.push(heredoc)
  }
  return at
}

export const isJsonList = (text: string) => jsonList(text) !== null

/** Reads arguments in the form `["a", "b"]`; null for any other form. */
function jsonList(text: string): string[] | null {
  if (!text.startsWith('[')) return null
  const list = jsonOrNull(text)
  return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : null
}

/** The raw arguments of ADD, COPY or FROM, with quotes and variables unresolved. */
export const argumentsOf = ({ text }: Pick<Instruction, 'text'>): string[] =>
  jsonList(text) ?? text.split(/[\t\v\f\r\n ]+/).filter(Boolean)

/** The values of a flag in order, such as `flagValues(copy, 'from')`. */
export const flagValues = ({ flags }: Pick<Instruction, 'flags'>, name: string): string[] =>
  flags.filter((flag) => flag.startsWith(`--${name}=`)).map((flag) => flag.slice(name.length + 3))
