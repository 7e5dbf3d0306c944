import { AppError } from '../../platform/errors.ts'
import { re2 } from '../../platform/re2.ts'

/** What may still be matched, in characters times instructions of the pattern: some tenths of a second. */
export type Budget = { left: number }

export const newBudget = (): Budget => ({ left: 10_000_000 })

/** In instructions; each costs memory, and time for each character. */
const maxSize = 2_000

/**
 * Compiles a template's pattern in RE2's syntax, with time linear in the text's length, unlike JavaScript's
 * backtracking. In addition `(?!…)` and `(?=…)` may directly follow a `^` at the start. As in JavaScript it
 * may match anywhere. Throws when the budget is used up.
 */
export function compilePattern(pattern: string): (text: string, budget?: Budget) => boolean {
  const looks: { test: ReturnType<typeof machineOf>; wanted: boolean }[] = []
  let rest = pattern
  for (;;) {
    const look = /^\^\(\?([!=])/.exec(rest)
    if (!look) break
    const end = closing(pattern, rest)
    const inside = rest.slice(look[0].length, end)
    looks.push({ test: machineOf(pattern, `^(?:${inside})`), wanted: look[1] === '=' })
    rest = `^${rest.slice(end + 1)}`
  }
  if (looks.length > 0 && closesAt(rest, '|') !== -1)
    throw refused(pattern, 'looks ahead in one of several ways to match')
  const test = machineOf(pattern, rest)
  return (text, budget = newBudget()) =>
    looks.every(({ test, wanted }) => test(text, budget) === wanted) && test(text, budget)
}

function machineOf(pattern: string, part: string): (text: string, budget: Budget) => boolean {
  const machine = compile(pattern, part)
  const size = machine.programSize()
  if (size > maxSize) throw refused(pattern, 'is too large')
  return (text, budget) => {
    budget.left -= size * text.length
    if (budget.left < 0) throw refused(pattern, 'takes too long to match')
    return machine.test(text)
  }
}

function compile(pattern: string, part: string) {
  try {
    return re2().RE2JS.compile(part)
  } catch (cause) {
    throw refused(pattern, 'can’t be read', cause)
  }
}

const refused = (pattern: string, complaint: string, cause?: unknown) =>
  new AppError('invalid', `The pattern ${pattern.slice(0, 80)} ${complaint}. Simplify it.`, {
    cause,
  })

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
