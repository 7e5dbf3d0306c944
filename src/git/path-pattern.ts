import { matches, spend } from '../platform/automaton.ts'
import type { Effort, State } from '../platform/automaton.ts'

/** Throws EffortSpent when the budget is used up. */
export type Matcher = (path: string, effort: Effort) => boolean

/**
 * `docker` is Go's filepath.Match with the `**` of Docker's patternmatcher: any number of folders, and at the
 * end anything. In `watch`, `**` is anything, `**` between slashes is any number of folders, and a match
 * covers everything below it.
 */
type Dialect = 'docker' | 'watch'

/** Patterns come from repositories and forms: the time is linear in the path's length, and limited. */
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

/** False for an unclosed or empty bracket and for a backslash at the end, which Docker refuses too. */
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

/** An unclosed bracket is a literal character. Its end is searched only once, to avoid quadratic time. */
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

/** The first state of each part follows the part before it. */
function statesOf(tokens: string[], dialect: Dialect): State[] {
  const isDockers = dialect === 'docker'
  const states: State[] = []
  for (const [index, text] of tokens.entries()) {
    const here = states.length
    if (text.startsWith('**')) {
      const isLast = index === tokens.length - 1
      // As in Docker, “**name” matches any path with this end, unless it contains other wildcards.
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

/** A path without it can't match, which decides most cases quickly. */
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
