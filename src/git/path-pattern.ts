/** Says whether a path matches; throws EffortSpent. */
export type Matcher = (path: string, effort: Effort) => boolean

/** Steps that may still be taken; shared by all patterns of a file and all paths. */
export type Effort = { left: number }

export class EffortSpent extends Error {}

/**
 * A pattern of Go's filepath.Match, with `**` as Docker's patternmatcher has it: any number of folders,
 * and at the end anything. With `below` it also matches all that lies below what it matches. It comes out
 * of a repository: the time it takes grows with the path, and is counted.
 */
export function parsePattern(pattern: string, { below }: { below: boolean }): Matcher {
  const tokens = tokensOf(pattern)
  const text = tokens.every((token) => token.length === 1 && !/[*?]/.test(token)) ? pattern : null
  if (text !== null) {
    const inside = `${text}/`
    return (path, effort) => {
      spend(effort, 1)
      return path === text || (below && path.startsWith(inside))
    }
  }
  const steps = tokens.map(toStep)
  const needed = longestLiteral(tokens)
  return (path, effort) => {
    spend(effort, 1)
    return path.includes(needed) && walk(steps, path, { below, effort })
  }
}

/** What Docker refuses: a bracket that is not closed or holds nothing, a backslash at the end. */
export function isPattern(pattern: string): boolean {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') {
      if (++at === pattern.length) return false
      continue
    }
    if (pattern[at] !== '[') continue
    brackets.lastIndex = at
    const [members] = brackets.exec(pattern) ?? []
    if (members === undefined || rangesOf(members).some(({ first, last }) => first > last))
      return false
    at += members.length - 1
  }
  return true
}

/** Throws when so many are not left. */
export function spend(effort: Effort, steps: number) {
  effort.left -= steps
  if (effort.left < 0) throw new EffortSpent()
}

/** What one part of a pattern does with a character: stays on it, moves past it, or may be skipped. */
type Step = { stays: Test; moves: Test; skippable: boolean }
type Test = (character: string) => boolean

const brackets = /\[(?:\^|(?!\^))(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+\]/gsy
const folders = /\*\*\/?/y
const simple = /\*|\?|\\.|[^]/sy

/** A bracket that nothing closes is a character like others; none is looked for behind it. */
function tokensOf(pattern: string): string[] {
  const tokens: string[] = []
  let open = [folders, brackets, simple]
  for (let at = 0; at < pattern.length; at += tokens.at(-1)!.length) {
    const [token] = firstAt(open, pattern, at)!
    tokens.push(token)
    if (token === '[') open = [folders, simple]
  }
  return tokens
}

function firstAt(kinds: RegExp[], text: string, at: number) {
  for (const kind of kinds) {
    kind.lastIndex = at
    const found = kind.exec(text)
    if (found) return found
  }
  return null
}

const never: Test = () => false
const always: Test = () => true
const inName: Test = (character) => character !== '/'

function toStep(text: string, index: number, tokens: string[]): Step {
  if (text.startsWith('**')) {
    const isLast = index === tokens.length - 1
    // as Docker has it: “**name” ends like any name, unless it holds other signs
    const isSuffix =
      index === 0 && text === '**' && tokens.slice(1).every((other) => !isSign(other))
    const moves = isLast || isSuffix ? never : (character: string) => character === '/'
    return { stays: always, moves, skippable: true }
  }
  if (text === '*') return { stays: inName, moves: never, skippable: true }
  if (text === '?') return { stays: never, moves: inName, skippable: false }
  if (text.length > 2 && text.startsWith('[')) return oneOf(text)
  const literal = text.length > 1 && text.startsWith('\\') ? text.slice(1) : text
  return { stays: never, moves: (character) => character === literal, skippable: false }
}

const isSign = (token: string) => token.length > 1 || /[*?]/.test(token)

/** What a path must hold to match at all; most are told apart by this alone. */
const longestLiteral = (tokens: string[]) =>
  tokens
    .map((text) => (isSign(text) ? '\0' : text))
    .join('')
    .split('\0')
    .reduce((longest, text) => (text.length > longest.length ? text : longest), '')

function oneOf(text: string): Step {
  const negated = text.startsWith('[^')
  const ranges = rangesOf(text)
  const moves: Test = (character) =>
    inName(character) &&
    ranges.some(({ first, last }) => first <= character && character <= last) !== negated
  return { stays: never, moves, skippable: false }
}

function rangesOf(text: string) {
  const members = text.slice(text.startsWith('[^') ? 2 : 1, -1)
  return [...members.matchAll(/(\\.|[^])(?:-(\\.|[^]))?/gs)].map(([, from, to]) => {
    const first = from!.replace(/^\\(?=.)/s, '')
    return { first, last: to?.replace(/^\\(?=.)/s, '') ?? first }
  })
}

/** Follows all the ways through the steps at once, each step at most once for a character. */
function walk(
  steps: Step[],
  path: string,
  { below, effort }: { below: boolean; effort: Effort },
): boolean {
  const seen = new Int32Array(steps.length + 1).fill(-1)
  const entered = new Int32Array(steps.length + 1).fill(-1)
  let at: number[] = []
  let next: number[] = []
  const add = (index: number, position: number) => {
    if (seen[index] !== position) next.push(index)
    seen[index] = position
  }
  /** With all that may be skipped from there on; each but once for a character. */
  const enter = (from: number, position: number) => {
    for (let index = from; entered[index] !== position; index++) {
      entered[index] = position
      add(index, position)
      if (!steps[index]?.skippable) return
    }
  }

  enter(0, 0)
  for (let i = 0; i < path.length; i++) {
    ;[at, next] = [next, at]
    next.length = 0
    spend(effort, at.length)
    const character = path[i]!
    for (const index of at) {
      const step = steps[index]
      if (step === undefined) {
        if (below && character === '/') return true
        continue
      }
      if (step.moves(character)) enter(index + 1, i + 1)
      if (!step.stays(character)) continue
      // A name’s `*` and a last `**` may end after any character, `**/` only after a slash.
      if (step.moves === never) enter(index, i + 1)
      else add(index, i + 1)
    }
    if (next.length === 0) return false
  }
  return next.includes(steps.length)
}
