import { matches, spend } from '../platform/automaton.ts'
import type { Effort, State } from '../platform/automaton.ts'

/** Says whether a path matches; throws EffortSpent. */
export type Matcher = (path: string, effort: Effort) => boolean

/**
 * `docker`: Go's filepath.Match, with `**` as Docker's patternmatcher has it: any number of folders, and at
 * the end anything. `watch`: `**` is anything, `**` between slashes any number of folders; and all that
 * lies below what it matches is matched too.
 */
type Dialect = 'docker' | 'watch'

/** The pattern comes from a repository or a form: its time grows linearly with the path, and is limited. */
export function parsePattern(pattern: string, dialect: Dialect): Matcher {
  const below = dialect === 'watch'
  const tokens = tokensOf(pattern, dialect)
  const text = tokens.some(isSign) ? null : pattern
  if (text !== null) {
    const inside = `${text}/`
    return (path, effort) => {
      spend(effort, 1)
      return path === text || (below && path.startsWith(inside))
    }
  }
  const states = statesOf(tokens, dialect)
  const needed = longestLiteral(tokens)
  return (path, effort) => {
    spend(effort, 1)
    if (!path.includes(needed)) return false
    const characters = /[\ud800-\udfff]/.test(path) ? [...path] : path
    return matches(states, characters, { start: 0, effort, anchored: true })
  }
}

/** What Docker refuses: an unclosed or empty bracket, a backslash at the end. */
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

type Test = (character: string) => boolean

const brackets = /\[(?:\^|(?!\^))(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+\]/gsuy
const folders = { docker: /\*\*\/?/y, watch: /(?<![^/])\*\*\/|\*\*/y }
const simple = /\*|\?|\\.|[^]/suy

/** An unclosed bracket is a literal character; no other is searched after it. */
function tokensOf(pattern: string, dialect: Dialect): string[] {
  const tokens: string[] = []
  let open = [folders[dialect], brackets, simple]
  for (let at = 0; at < pattern.length; at += tokens.at(-1)!.length) {
    const [token] = firstAt(open, pattern, at)!
    tokens.push(token)
    if (token === '[') open = [folders[dialect], simple]
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

const always: Test = () => true
const inName: Test = (character) => character !== '/'
const isSlash: Test = (character) => character === '/'

/** For each part of the pattern its states, the first of which follows the part before. */
function statesOf(tokens: string[], dialect: Dialect): State[] {
  const isDockers = dialect === 'docker'
  const states: State[] = []
  for (const [index, text] of tokens.entries()) {
    const here = states.length
    if (text.startsWith('**')) {
      const isLast = index === tokens.length - 1
      // like Docker: “**name” matches any name with this end, unless it contains other wildcards
      const isSuffix =
        index === 0 && text === '**' && tokens.slice(1).every((other) => !isSign(other))
      if (isDockers ? isLast || isSuffix : text === '**') repeat(always)
      else {
        states.push({ kind: 'split', next: [here + 1, here + 2, here + 3] })
        states.push({ kind: 'char', is: always, next: [here + 1, here + 2] })
        states.push({ kind: 'char', is: isSlash, next: [here + 3] })
      }
    } else if (text === '*') repeat(inName)
    else states.push({ kind: 'char', is: testOf(text), next: [here + 1] })
  }
  const end = states.length
  states.push({ kind: 'split', next: isDockers ? [end + 1] : [end + 1, end + 2] })
  states.push({ kind: 'last', next: [end + 3] })
  states.push({ kind: 'char', is: isSlash, next: [end + 3] })
  states.push({ kind: 'end' })
  return states

  function repeat(is: Test) {
    const here = states.length
    states.push({ kind: 'split', next: [here + 1, here + 2] })
    states.push({ kind: 'char', is, next: [here + 1, here + 2] })
  }
}

function testOf(text: string): Test {
  if (text === '?') return inName
  if (text.length > 2 && text.startsWith('[')) return oneOf(text)
  const literal = text.length > 1 && text.startsWith('\\') ? text.slice(1) : text
  return (character) => character === literal
}

const isSign = (token: string) => /^([*?]|[[\\].)/s.test(token)

/** What a path must contain to match at all; most are decided by this alone. */
const longestLiteral = (tokens: string[]) =>
  tokens
    .map((text) => (isSign(text) ? '\0' : text))
    .join('')
    .split('\0')
    .reduce((longest, text) => (text.length > longest.length ? text : longest), '')

function oneOf(text: string): Test {
  const negated = text.startsWith('[^')
  const ranges = rangesOf(text)
  return (character) =>
    inName(character) &&
    ranges.some(({ first, last }) => first <= character && character <= last) !== negated
}

function rangesOf(text: string) {
  const members = text.slice(text.startsWith('[^') ? 2 : 1, -1)
  return [...members.matchAll(/(\\.|[^])(?:-(\\.|[^]))?/gsu)].map(([, from, to]) => {
    const first = from!.replace(/^\\(?=.)/s, '')
    return { first, last: to?.replace(/^\\(?=.)/s, '') ?? first }
  })
}
