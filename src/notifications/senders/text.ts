import type { Level, Message } from './sender.ts'

type Look = {
  symbol: string
  /** The name of the same emoji in ntfy. */
  tag: string
  color: number
  isUrgent: boolean
}

export const looks: Record<Level, Look> = {
  info: { symbol: 'ℹ️', tag: 'information_source', color: 0x3b82f6, isUrgent: false },
  warning: { symbol: '⚠️', tag: 'warning', color: 0xf59e0b, isUrgent: true },
  failure: { symbol: '❌', tag: 'x', color: 0xef4444, isUrgent: true },
  resolved: { symbol: '✅', tag: 'white_check_mark', color: 0x22c55e, isUrgent: false },
}

/** Shortens a text to that many UTF-16 units, without half a character at its end. */
export function cut(text: string, max: number) {
  if (text.length <= max) return text
  return `${text
    .slice(0, max - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`
}

/** Shortens it until its encoded form fits. */
export function cutTo(text: string, max: number, sizeOf: (text: string) => number) {
  if (sizeOf(text) <= max) return text
  let [fits, over] = [0, text.length]
  while (over - fits > 1) {
    const middle = (fits + over) >> 1
    if (sizeOf(cut(text, middle)) <= max) fits = middle
    else over = middle
  }
  return fits === 0 ? '' : cut(text, fits)
}

const lengthOf = (text: string) => text.length

export const bytesOf = (text: string) => Buffer.byteLength(text)

/** Lines from outside, without what would end a line or hide text. */
export const oneLine = (text: string) =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()

export const headline = ({ level, title }: Message) => `${looks[level].symbol} ${oneLine(title)}`

/** What happened and why, then what to do. */
export const paragraphs = ({ text, todo }: Message) =>
  [text, todo].filter((part): part is string => Boolean(part))

/** Both, of that size at most: what to do isn't lost at the end of a long text. */
export function bodyOf({ text, todo }: Message, max: number, sizeOf = lengthOf) {
  const end = todo ? `\n\n${cutTo(todo, max / 3, sizeOf)}` : ''
  return cutTo(text, max - sizeOf(end), sizeOf) + end
}

export const escapeHtml = (text: string) =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[char] ?? '&quot;')
