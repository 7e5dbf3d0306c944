import { AppError } from '../platform/errors.ts'
import { re2 } from '../platform/re2.ts'
import { sourceOf } from './path-pattern.ts'
import { refusePath } from './tree-paths.ts'

/** Returns the reason why a path or pattern is refused; null when it is valid. */
export function refuseWatchedPath(text: string): string | null {
  try {
    sourcesOf(text)
    return null
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

/**
 * Returns a test for changed paths; the files of a matching folder are watched too. The dialect is the one in
 * docs/git.md. Throws for invalid patterns and for syntax that only other dialects have.
 */
export function watchedBy(patterns: string[]): (path: string) => boolean {
  const { RE2JS } = re2()
  const pattern = RE2JS.compile(patterns.flatMap(sourcesOf).join('|'), RE2JS.DOTALL)
  return (path) => pattern.testExact(path.normalize('NFC'))
}

export type WatchedFiles = {
  pattern: string
  /** Null when the pattern can be saved. */
  refusal: string | null
  count: number | null
  /** Only the first ones. */
  files: string[]
}

const maxShown = 3

/** `paths` are joined, each ended by a NUL. Call it through `parse`. */
export function watchedFiles(patterns: string[], paths: string | null): WatchedFiles[] {
  const list = paths?.split('\0').slice(0, -1) ?? null
  return patterns.map((pattern) => {
    const refusal = refuseWatchedPath(pattern)
    if (refusal !== null || list === null) return { pattern, refusal, count: null, files: [] }
    const found = list.filter(watchedBy([pattern]))
    return { pattern, refusal, count: found.length, files: found.slice(0, maxShown) }
  })
}

/** Expands braces, for the RE2 source of each result; a path is watched if any of them matches. */
function sourcesOf(text: string): string[] {
  const refusal = rules.find(([rule]) => rule.test(text))?.[1]
  if (refusal) throw invalid(refusal)
  const unescaped = text.replace(/\\(?=[^\p{L}\p{N}/\\])/gu, '')
  const why = refusePath(unescaped)
  if (why) throw invalid(`can’t be used. ${why}`)
  const pieces = text.normalize('NFC').match(/\\.|\*\*|\[(?:\\.|[^\]\\])*\]|[^]/gsu) ?? []
  return expand(pieces.values()).map(sourceOfPlain)
}

/** Ignores “./” at the start and “/” at the end. The root watches everything. */
function sourceOfPlain(alternative: string): string {
  const pattern = alternative.replace(/^(\.\/+)+/, '').replace(/(?<=[^/])\/+$/, '')
  if (/^\.?$/.test(pattern) && alternative !== '') return '.*'
  if (/^\/|\/\/|(^|\/)\.\.?(\/|$)|^$/.test(pattern)) throw invalid(oddParts)
  const others = pattern.replace(/\\.|\[(?:\\.|[^\]\\/])*\]/gsu, '')
  const source = sourceOf(pattern, 'watch')
  if (source === null || /[[\]]/.test(others)) throw invalid(oddBrackets)
  return source
}

function expand(pieces: Iterator<string>, isInside = false): string[] {
  const done: string[] = []
  let open = ['']
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    const piece = next.value
    if (piece === '}') {
      if (!isInside || done.length === 0) throw invalid(oddBraces)
      return [...done, ...open]
    }
    if (piece === ',' && isInside) {
      done.push(...open)
      open = ['']
      continue
    }
    if (/^[,;|\s]$/.test(piece)) throw invalid(several(piece))
    const ends = piece === '{' ? expand(pieces, true) : [plainClass(piece)]
    if (open.length * ends.length > maxExpanded) throw invalid(tooMany)
    open = [...new Set(open.flatMap((begun) => ends.map((end) => joined(begun, end))))]
    if (open.reduce((size, { length }) => size + length, 0) > maxExpanded) throw invalid(tooMany)
  }
  if (isInside) throw invalid(oddBraces)
  return open
}

/** Adjacent stars from different braces become the longer one: `{a,*}*` isn't `**`. */
function joined(begun: string, end: string) {
  const [left] = /(?<!\\)\*+$/.exec(begun) ?? ['']
  const [right] = /^\*+/.exec(end) ?? ['']
  if (left === '' || right === '') return begun + end
  const stars = left.length > right.length ? left : right
  return begun.slice(0, -left.length) + stars + end.slice(right.length)
}

/** Converts a negated class to Docker's syntax: `[!-a]` is `[^\\-a]`. Returns other pieces unchanged. */
const plainClass = (piece: string) =>
  piece
    .replace(/^\[!(?=.)/s, '[^')
    .replace(/^(\[\^?)-(?=.)/s, '$1\\-')
    .replace(/(?<=^\[.+)(?<!\\)-\]$/s, '\\-]')

/** In characters, for all patterns that one with braces expands to. */
const maxExpanded = 4000

const rules: [RegExp, string][] = [
  [/(\*+[^*]*){11}/, 'can have at most 10 stars.'],
  [/(?<!\\)\p{Cf}/u, 'has an invisible character. Type it again.'],
  [/^!/, 'can’t exclude paths with “!”. List the paths that are to be watched.'],
  [/^#/, 'can’t have comments. For a name that begins with “#”, write \\#.'],
  [/^(["'`]).*\1$/s, 'must be without quotes.'],
  [/^- /, 'must be without the “- ” of a list.'],
  [
    /^\^|(?<!\\)\$$/,
    'must be a path or a pattern, not a regular expression. Write \\^ or \\$ for these characters.',
  ],
  [/:\/\//, 'must be a path in the repository, not an address.'],
  [
    /(^|[^\\])[?*+@!]\(/,
    'can’t have groups such as +(a|b). Write {a,b} instead, and \\( for a bracket itself.',
  ],
  [/\*\*\*/, 'can’t have three stars in a row. Write * within a name and ** across folders.'],
  [/\[\[:/, 'can’t have classes such as [[:alpha:]]. Write [a-z] instead.'],
]

const several = (sign: string) =>
  `has ${sign === ' ' ? 'a space' : `“${sign}”`}. Enter one path or pattern per line; if it belongs to a name, write “\\${sign}”.`
const oddBraces =
  'has braces that can’t be read. Write {web,api} for alternatives, and \\{ for a brace itself.'
const oddBrackets =
  'has brackets that can’t be read. Write [a-z] or [!a-z] for one character, and \\[ for a bracket itself.'
const oddParts = 'can’t have empty parts, “.” or “..” between slashes.'
const tooMany = 'has braces that stand for too many paths. Use several lines.'

const invalid = (message: string) => new AppError('invalid', message)
