/**
 * `docker` is Go's filepath.Match with the `**` of Docker's patternmatcher: any number of folders, and at the
 * end anything. In `watch`, `**` is anything, `**` between slashes is any number of folders, and a match
 * covers everything below it.
 */
type Dialect = 'docker' | 'watch'

/**
 * The RE2 source that matches the whole of a path; `.` must match line feeds. Null for an unclosed or empty
 * bracket and for a backslash at the end, which Docker refuses too.
 */
export function sourceOf(pattern: string, dialect: Dialect): string | null {
  const tokens = tokensOf(pattern, dialect)
  const parts = tokens?.map((token, index) =>
    token.startsWith('**') ? foldersSource(tokens, index, dialect) : tokenSource(token),
  )
  if (!parts || parts.includes(null)) return null
  const isRepeat = (part: string | null, index: number) =>
    (part === inName || part === anyFolders) && part === parts[index - 1]
  const distinct = parts.filter((part, index) => !isRepeat(part, index))
  return distinct.join('') + (dialect === 'watch' ? '(?:/.*)?' : '')
}

const inName = '[^/]*'
const anyFolders = '(?:.*/)?'

const bracket = String.raw`\[(?:\^|(?!\^))(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+\]`
const single = String.raw`\*|\?|${bracket}|\\.|[^\\[]`

const tokenOf = {
  docker: new RegExp(String.raw`\*\*/?|${single}`, 'suy'),
  watch: new RegExp(String.raw`(?<![^/])\*\*/|\*\*|${single}`, 'suy'),
}

/** Null when the rest can't be read. */
function tokensOf(pattern: string, dialect: Dialect): string[] | null {
  const next = tokenOf[dialect]
  next.lastIndex = 0
  const tokens: string[] = []
  while (next.lastIndex < pattern.length) {
    const [found] = next.exec(pattern) ?? []
    if (found === undefined) return null
    tokens.push(found)
  }
  return tokens
}

function foldersSource(tokens: string[], index: number, dialect: Dialect) {
  const isShort = tokens[index] === '**'
  // As in Docker, “**name” matches any path with this end, unless it contains other wildcards.
  const isSuffix = index === 0 && isShort && !tokens.slice(1).some(isSign)
  const isAnything = dialect === 'watch' ? isShort : index === tokens.length - 1 || isSuffix
  return isAnything ? '.*' : anyFolders
}

const isSign = (token: string) => /^([*?]|[[\\].)/s.test(token)

/** Null for a bracket with a range that ends before it begins. */
function tokenSource(token: string): string | null {
  if (token === '*') return inName
  if (token === '?') return '[^/]'
  if (token.length > 1 && token.startsWith('[')) return bracketSource(token)
  return characterSource(token.codePointAt(token.length > 1 && token.startsWith('\\') ? 1 : 0)!)
}

const characterSource = (code: number) => {
  const character = String.fromCodePoint(code)
  return /^\w$/.test(character) ? character : `\\x{${code.toString(16)}}`
}

/** No bracket matches a slash. */
function bracketSource(token: string): string | null {
  const isNegated = token.startsWith('[^')
  const members = token.slice(isNegated ? 2 : 1, -1)
  const ranges = [...members.matchAll(/\\?([^])(?:-\\?([^]))?/gu)].map(([, from, to]) => {
    const first = from!.codePointAt(0)!
    return { first, last: to?.codePointAt(0) ?? first }
  })
  if (ranges.some(({ first, last }) => first > last)) return null
  if (isNegated) return `[^/${ranges.map(rangeSource).join('')}]`
  const others = ranges.flatMap(({ first, last }) => [
    { first, last: Math.min(last, slash - 1) },
    { first: Math.max(first, slash + 1), last },
  ])
  const source = others.filter(({ first, last }) => first <= last).map(rangeSource)
  return source.length > 0 ? `[${source.join('')}]` : '[^\\x{0}-\\x{10ffff}]'
}

const slash = 0x2f

const rangeSource = ({ first, last }: { first: number; last: number }) =>
  `${characterSource(first)}-${characterSource(last)}`
