import type { Effort } from '../../platform/automaton.ts'
import { machineOf, refused, someEffort } from './machine.ts'

/**
 * What a template's pattern says of a text, in a time that grows with the text only. Beyond what a
 * machine takes there may be `(?!…)` and `(?=…)` right after a `^` that begins the pattern.
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
  return (text, effort = someEffort()) =>
    looks.every(({ machine, wanted }) => machine(text, effort) === wanted) && machine(text, effort)
}

/** Of the group that follows the `^`. */
function closing(pattern: string, rest: string) {
  const end = closesAt(rest.slice(2), ')')
  if (end === -1) throw refused(pattern, 'opens a group that is never closed')
  return end + 2
}

/** Where the character stands outside of groups, classes and escapes; -1: nowhere. */
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
