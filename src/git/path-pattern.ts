export type Matcher = (path: string) => boolean

/**
 * A pattern of Go's filepath.Match, with `**` for any number of folders; it matches a path, and all
 * that lies below one. The time it takes grows with the path, however the pattern is made: it comes
 * out of a repository, and a regular expression could be made to run for years.
 */
export function parsePattern(pattern: string): Matcher {
  if (!/[*?[\\]/.test(pattern)) {
    const below = `${pattern}/`
    return (path) => path === pattern || path.startsWith(below)
  }
  const tokens = tokensOf(pattern)
  const steps = tokens.map(toStep)
  const needed = longestLiteral(tokens)
  return (path) => path.includes(needed) && walk(steps, path)
}

/** What one part of a pattern does with a character: stays on it, moves past it, or may be skipped. */
type Step = { stays: Test; moves: Test; skippable: boolean }
type Test = (character: string) => boolean

const simple = /\*\*+(?:\/(?:\*\*+\/)*)?|\*|\?|\\.|[^]/gsy
const token = /\[\^?(?:\\.|[^\]\\])+\]|\*\*+(?:\/(?:\*\*+\/)*)?|\*|\?|\\.|[^]/gsy

/** After a bracket that nothing closes none is looked for: each would be, up to the end. */
function tokensOf(pattern: string): string[] {
  const tokens: string[] = []
  let kind = token
  for (let at = 0; at < pattern.length; at += tokens.at(-1)!.length) {
    kind.lastIndex = at
    tokens.push(kind.exec(pattern)![0])
    if (tokens.at(-1) === '[' && !/^\[\^?\]/.test(pattern.slice(at, at + 3))) kind = simple
  }
  return tokens
}

const never: Test = () => false
const always: Test = () => true
const inName: Test = (character) => character !== '/'

function toStep(text: string): Step {
  if (/^\*\*+$/.test(text)) return { stays: always, moves: never, skippable: true }
  if (text.startsWith('**')) {
    return { stays: always, moves: (character) => character === '/', skippable: true }
  }
  if (text === '*') return { stays: inName, moves: never, skippable: true }
  if (text === '?') return { stays: never, moves: inName, skippable: false }
  if (text.length > 2 && text.startsWith('[')) return oneOf(text)
  const literal = text.length > 1 && text.startsWith('\\') ? text.slice(1) : text
  return { stays: never, moves: (character) => character === literal, skippable: false }
}

/** What a path must hold to match at all; most are told apart by this alone. */
const longestLiteral = (tokens: string[]) =>
  tokens
    .map((text) => (text.length === 1 && !/[*?]/.test(text) ? text : '\0'))
    .join('')
    .split('\0')
    .reduce((longest, text) => (text.length > longest.length ? text : longest), '')

function oneOf(text: string): Step {
  const negated = text.startsWith('[^')
  const members = text.slice(negated ? 2 : 1, -1)
  const ranges = [...members.matchAll(/(\\.|[^])(?:-(\\.|[^]))?/gs)].map(([, from, to]) => {
    const first = from!.replace(/^\\(?=.)/s, '')
    return { first, last: to?.replace(/^\\(?=.)/s, '') ?? first }
  })
  const moves: Test = (character) =>
    inName(character) &&
    ranges.some(({ first, last }) => first <= character && character <= last) !== negated
  return { stays: never, moves, skippable: false }
}

/** Follows all the ways through the steps at once, each step at most once for a character. */
function walk(steps: Step[], path: string): boolean {
  const seen = new Int32Array(steps.length + 1).fill(-1)
  let at: number[] = []
  let next: number[] = []
  const add = (index: number, position: number) => {
    if (seen[index] !== position) next.push(index)
    seen[index] = position
  }
  const enter = (index: number, position: number) => {
    add(index, position)
    if (steps[index]?.skippable) enter(index + 1, position)
  }

  enter(0, 0)
  for (let i = 0; i < path.length; i++) {
    ;[at, next] = [next, at]
    next.length = 0
    const character = path[i]!
    for (const index of at) {
      const step = steps[index]
      if (step === undefined) {
        if (character === '/') return true
        continue
      }
      if (step.moves(character)) enter(index + 1, i + 1)
      if (!step.stays(character)) continue
      // A name’s `*` and a bare `**` may end after any character, `**/` only after a slash.
      if (step.moves === never) enter(index, i + 1)
      else add(index, i + 1)
    }
    if (next.length === 0) return false
  }
  return next.includes(steps.length)
}
