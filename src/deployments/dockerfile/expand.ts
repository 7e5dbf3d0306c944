import { Failure } from '../../platform/errors.ts'
import type { Escape } from './directives.ts'

export type Lookup = (name: string) => string | undefined

/** The remaining characters, shared by all words of a file. */
export type Room = { left: number }

/** Far more than image names need, yet small. */
export const roomForVariables = (): Room => ({ left: 1024 * 1024 })

export function take(room: Room, characters: number) {
  room.left -= characters
  if (room.left < 0) throw tooMuch()
}

const mostDepth = 20

/**
 * Resolves quotes and escapes and expands variables once: values aren't expanded again. Null for what
 * BuildKit refuses, and for `${x#…}`, `${x%…}` and `${x/…}`, which aren't supported.
 */
export function expand(
  word: string,
  { escape, lookup, room }: { escape: Escape; lookup: Lookup; room: Room },
): string | null {
  let at = 0
  try {
    return read(null, 0)
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }

  /** Reads up to and including the character; null means to the end. */
  function read(end: '}' | null, depth: number): string {
    if (depth > mostDepth) throw tooMuch()
    let made = ''
    const add = (text: string) => {
      take(room, text.length + 1)
      made += text
    }
    let quoted = false
    for (; at < word.length; at++) {
      const char = word[at]!
      if (char === end && !quoted) return made
      if (char === '"') quoted = !quoted
      else if (char === "'" && !quoted) add(literal())
      else if (char === escape) add(escaped(quoted))
      else if (char === '$') add(variable(depth))
      else add(char)
    }
    if (quoted || end !== null) throw new Unreadable()
    return made
  }

  /** Within single quotes everything is literal. Stops at the closing quote. */
  function literal() {
    const close = word.indexOf("'", at + 1)
    if (close === -1) throw new Unreadable()
    const text = word.slice(at + 1, close)
    at = close
    return text
  }

  function escaped(quoted: boolean) {
    const next = word[at + 1]
    if (next === undefined) return ''
    if (quoted && next !== '"' && next !== '$' && next !== escape) return escape
    at++
    return next
  }

  /** Stops at the last character that it read. */
  function variable(depth: number): string {
    const braced = word[at + 1] === '{'
    const [name] = matchAt(variableName, word, braced ? at + 2 : at + 1) ?? []
    if (!braced) {
      at += name?.length ?? 0
      return name === undefined ? '$' : (lookup(name) ?? '')
    }
    if (name === undefined) throw new Unreadable()
    at += 2 + name.length
    const value = lookup(name)
    if (word[at] === '}') return value ?? ''
    const emptyCounts = word[at] !== ':'
    if (!emptyCounts) at++
    const operator = word[at++]
    if (operator === undefined || !'-+?'.includes(operator)) throw new Unreadable()
    const operand = read('}', depth + 1)
    const isSet = value !== undefined && (emptyCounts || value !== '')
    if (operator === '+') return isSet ? operand : ''
    if (operator === '?' && !isSet) throw new Unreadable()
    return isSet ? value : operand
  }
}

const variableName = /[\p{L}_][\p{L}\p{Nd}_]*|\p{Nd}+|[@*#?$!-]/uy

function matchAt(pattern: RegExp, text: string, at: number) {
  pattern.lastIndex = at
  return pattern.exec(text)
}

class Unreadable extends Error {}

const tooMuch = () =>
  new Failure(
    'dockerfile_too_hard',
    'The variables of the Dockerfile expand to more than 1 MiB of text, or are nested more than 20 levels deep.',
    'Simplify its ARGs.',
  )
