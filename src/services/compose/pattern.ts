import { EffortSpent, matches } from '../../platform/automaton.ts'
import type { Effort, State } from '../../platform/automaton.ts'
import { AppError } from '../../platform/errors.ts'

/** Some tenths of a second. Patterns that people write take a few steps per character. */
export const newBudget = (): Effort => ({ left: 1_000_000 })

/**
 * Compiles a pattern to an automaton that reads a text once: its time is linear in the text's length,
 * whatever the pattern, unlike JavaScript's backtracking. Supports characters, classes, groups, `|`, `* + ?
 * {n,m}`, `^` and `$`. As in JavaScript it may match anywhere. Throws when the budget is used up.
 */
export function machineOf(pattern: string): (text: string, effort: Effort) => boolean {
  const states: State[] = []
  const start = add({ kind: 'end' })
  let at = 0
  const { from, to } = alternatives(0)
  if (at < pattern.length) throw refused(pattern, 'closes a group that was not opened')
  states[start] = { kind: 'split', next: [from] }
  states[to] = { kind: 'end' }
  return (text, effort) => {
    try {
      return matches(states, [...text], { start, effort })
    } catch (error) {
      throw error instanceof EffortSpent ? refused(pattern, 'takes too long to match') : error
    }
  }

  type Piece = { from: number; to: number }

  function alternatives(depth: number): Piece {
    if (depth > 20) throw refused(pattern, 'nests groups more than 20 deep')
    const from = add({ kind: 'split', next: [] })
    const to = add({ kind: 'split', next: [] })
    do {
      const branch = sequence(depth)
      link(from, branch.from)
      link(branch.to, to)
    } while (pattern[at] === '|' && at++ >= 0)
    return { from, to }
  }

  function sequence(depth: number): Piece {
    const from = add({ kind: 'split', next: [] })
    let to = from
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      const begun = at
      const first = atom(depth)
      const end = at
      const [min, max] = quantifier()
      const after = at
      const again = () => {
        at = begun
        const piece = atom(depth)
        if (at !== end) throw refused(pattern, 'can’t be read')
        return piece
      }
      to = repeat(to, first, again, min, max)
      at = after
    }
    return { from, to }
  }

  /** Appends the piece as often as it may occur, with a copy for each time. */
  function repeat(after: number, first: Piece, again: () => Piece, min: number, max: number) {
    let to = after
    let piece: Piece | null = first
    const next = () => {
      const made = piece ?? again()
      piece = null
      return made
    }
    for (let i = 0; i < min; i++) to = append(to, next())
    if (max === Infinity) {
      const loop = next()
      const hub = add({ kind: 'split', next: [loop.from] })
      link(to, hub)
      link(loop.to, hub)
      const end = add({ kind: 'split', next: [] })
      link(hub, end)
      return end
    }
    const end = add({ kind: 'split', next: [] })
    for (let i = min; i < max; i++) {
      link(to, end)
      to = append(to, next())
    }
    link(to, end)
    return end
  }

  function append(after: number, piece: Piece) {
    link(after, piece.from)
    return piece.to
  }

  function atom(depth: number): Piece {
    const char = pattern[at]!
    if (char === '(') return group(depth)
    if (char === '^' || char === '$') {
      at++
      return single({ kind: char === '^' ? 'first' : 'last', next: [] })
    }
    if ('*+?{'.includes(char)) throw refused(pattern, `repeats nothing at ${char}`)
    return single({ kind: 'char', is: characterTest(character()), next: [] })
  }

  function group(depth: number): Piece {
    at++
    if (pattern.startsWith('?:', at)) at += 2
    else if (pattern[at] === '?')
      throw refused(pattern, 'looks ahead (but at its very start) or behind, or names a group')
    const inside = alternatives(depth + 1)
    if (pattern[at] !== ')') throw refused(pattern, 'opens a group that is never closed')
    at++
    return inside
  }

  /** Returns the source of one character, escape or class. */
  function character() {
    const begun = at
    if (pattern[at] === '[') {
      at++
      while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1
      at++
    } else if (pattern[at] === '\\') {
      const escape = /^\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9]|[dwsDWSnrtvf])/
      const found = escape.exec(pattern.slice(at, at + 6))
      if (!found) throw refused(pattern, `has ${pattern.slice(at, at + 2)}, which is not supported`)
      at += found[0].length
    } else at += String.fromCodePoint(pattern.codePointAt(at)!).length
    return pattern.slice(begun, at)
  }

  function characterTest(text: string) {
    try {
      const one = new RegExp('^(?:' + text + ')$', 's')
      return (char: string) => (text === '.' ? char !== '\n' : one.test(char))
    } catch (cause) {
      throw refused(pattern, `has the class ${text.slice(0, 40)}, which can’t be read`, cause)
    }
  }

  function quantifier(): [number, number] {
    const found = /^(?:[*+?]|\{(\d{1,4})(,(\d{0,4}))?\})/.exec(pattern.slice(at, at + 12))
    if (!found) return [1, 1]
    at += found[0].length
    if (pattern[at] === '?') at++ // lazy quantifiers match the same texts
    if (found[0] === '*') return [0, Infinity]
    if (found[0] === '+') return [1, Infinity]
    if (found[0] === '?') return [0, 1]
    const min = Number(found[1])
    const max = found[2] === undefined ? min : found[3] ? Number(found[3]) : Infinity
    if (min > max) throw refused(pattern, `repeats ${found[0]}, the least above the most`)
    return [min, max]
  }

  function single(state: Exclude<State, { kind: 'end' }>): Piece {
    const from = add(state)
    const to = add({ kind: 'split', next: [] })
    state.next.push(to)
    return { from, to }
  }

  function link(from: number, to: number) {
    const state = states[from]!
    if (state.kind !== 'end') state.next.push(to)
  }

  function add(state: State) {
    if (states.length === maxStates) throw refused(pattern, 'is too large')
    return states.push(state) - 1
  }
}

const maxStates = 2_000

export const refused = (pattern: string, complaint: string, cause?: unknown) =>
  new AppError('invalid', `The pattern ${pattern.slice(0, 80)} ${complaint}. Simplify it.`, {
    cause,
  })

/**
 * Compiles a template's pattern, with time linear in the text's length. In addition to what `machineOf`
 * supports, `(?!…)` and `(?=…)` may directly follow a `^` at the start.
 */
export function compilePattern(pattern: string): (text: string, effort?: Effort) => boolean {
  const looks: { machine: ReturnType<typeof machineOf>; wanted: boolean }[] = []
  let rest = pattern
  for (;;) {
    const look = /^\^\(\?([!=])/.exec(rest)
    if (!look) break
    const end = closing(pattern, rest)
    const inside = rest.slice(look[0].length, end)
    looks.push({ machine: machineOf(`^(?:${inside})`), wanted: look[1] === '=' })
    rest = `^${rest.slice(end + 1)}`
  }
  if (looks.length > 0 && closesAt(rest, '|') !== -1)
    throw refused(pattern, 'looks ahead in one of several ways to match')
  const machine = machineOf(rest)
  return (text, effort = newBudget()) =>
    looks.every(({ machine, wanted }) => machine(text, effort) === wanted) && machine(text, effort)
}

/** Finds the end of the group after the `^`. */
function closing(pattern: string, rest: string) {
  const end = closesAt(rest.slice(2), ')')
  if (end === -1) throw refused(pattern, 'opens a group that is never closed')
  return end + 2
}

/** Finds the character outside groups, classes and escapes; -1 if there is none. */
function closesAt(text: string, wanted: ')' | '|') {
  let depth = 0
  let inClass = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === '\\') at++
    else if (inClass) inClass = char !== ']'
    else if (char === '[') inClass = true
    else if (char === wanted && depth === 0) return at
    else if (char === '(') depth++
    else if (char === ')') depth--
  }
  return -1
}
