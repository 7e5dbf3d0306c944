import { existsSync, readFileSync } from 'node:fs'
import { Failure } from '../platform/errors.ts'
import type { Layout } from './layout.ts'

/** `from` and `to` are its position in the file, up to the end of its last line. */
type Assignment = { name: string; value: string; from: number; to: number }

/** Null without a file, and empty for a user other than root who may not read it. */
export function settingsIn({ settings }: Pick<Layout, 'settings'>) {
  if (!existsSync(settings)) return null
  try {
    return readFileSync(settings, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES' && process.geteuid!() !== 0) return ''
    throw error
  }
}

/** Parses a settings file as systemd does. */
export const settingsOf = (text: string): Record<string, string> =>
  Object.fromEntries(assignmentsIn(text).map(({ name, value }) => [name, value]))

/** Changes settings and keeps comments, the order, and everything else. */
export function withSettings(text: string, changes: Record<string, string>): string {
  const left = new Map(Object.entries(changes))
  const last = new Map(assignmentsIn(text).map((found) => [found.name, found])) // the last one wins
  let changed = ''
  let at = 0
  for (const { name, from, to } of assignmentsIn(text).filter(
    (found) => last.get(found.name)?.from === found.from,
  )) {
    const value = left.get(name)
    if (value === undefined) continue
    left.delete(name)
    changed += text.slice(at, from) + assignment(name, value)
    at = to
  }
  changed += text.slice(at)
  const added = Array.from(left, ([name, value]) => `${assignment(name, value)}\n`).join('')
  return changed + (added && changed !== '' && !changed.endsWith('\n') ? '\n' : '') + added
}

/** Quotes the value so that systemd reads it unchanged. */
function assignment(name: string, value: string) {
  if (/\p{Cc}/u.test(value))
    throw new Failure(
      'setting_unwritable',
      `${name} has a line break or another control character.`,
      'Enter it without.',
    )
  const isPlain = /^[\w@%+=:,./*-]*$/.test(value)
  return `${name}=${isPlain ? value : `"${value.replaceAll(/["\\`$]/g, '\\$&')}"`}`
}

const isSpace = (char: string) => char === ' ' || char === '\t'
const isEnd = (char: string) => char === '\n' || char === '\r' || char === ''

/** Follows systemd: quotes end and begin anywhere in front of a value, and a backslash continues a line. */
function assignmentsIn(text: string): Assignment[] {
  const found: Assignment[] = []
  for (let at = 0; at < text.length; at++) {
    if (isSpace(text[at]!) || isEnd(text[at]!)) continue
    const from = at
    if (text[at] === '#' || text[at] === ';') {
      at = endOfComment(text, at)
      continue
    }
    while (!isEnd(text.charAt(at)) && text[at] !== '=') at++
    if (text[at] !== '=') continue
    const name = text.slice(from, at).trimEnd()
    const { value, end } = valueAt(text, at + 1)
    at = end
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) found.push({ name, value, from, to: end })
  }
  return found
}

function endOfComment(text: string, start: number) {
  let at = start
  for (; !isEnd(text.charAt(at)); at++) if (text[at] === '\\') at++
  return at
}

function valueAt(text: string, start: number) {
  let value = ''
  let at = start
  /** The length without trailing spaces. */
  let length = 0
  for (let isBegun = false; !isEnd(text.charAt(at)); at++) {
    const char = text[at]!
    if (!isBegun && (char === '"' || char === "'")) {
      const quoted = char === '"' ? doubleQuoted(text, at + 1) : singleQuoted(text, at + 1)
      value += quoted.value
      length = value.length
      at = quoted.end
      continue
    }
    if (!isBegun && isSpace(char)) continue
    isBegun = true
    if (char === '\\') {
      at++
      if (!isEnd(text.charAt(at))) value += text[at]
      length = value.length
      continue
    }
    value += char
    if (!isSpace(char)) length = value.length
  }
  return { value: value.slice(0, length), end: at }
}

/** Ends at the closing quote, or at the end of the text. */
function singleQuoted(text: string, start: number) {
  const end = text.indexOf("'", start)
  return end === -1
    ? { value: text.slice(start), end: text.length }
    : { value: text.slice(start, end), end }
}

function doubleQuoted(text: string, start: number) {
  let value = ''
  let at = start
  for (; at < text.length && text[at] !== '"'; at++) {
    if (text[at] !== '\\') value += text[at]
    else if ('"\\`$'.includes(text.charAt(++at))) value += text.charAt(at)
    else if (text[at] !== '\n') value += `\\${text.charAt(at)}`
  }
  return { value, end: at }
}
