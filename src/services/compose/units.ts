import { containerLimits } from '../../platform/limits.ts'
import type { Field } from './field.ts'
import { quote } from './field.ts'

const powers = ['', 'k', 'm', 'g', 't']

const mebibyte = 1024 ** 2

/** A container's memory, and the file systems in it, are limited to this. */
const maxBytes = containerLimits.memoryMb * mebibyte

/** In bytes, from Compose's `64m`, `1.5gb`, `2GiB` or a number of bytes; `k` is 1024. */
export function bytesOf(
  field: Field,
  { min = 0, max = maxBytes }: { min?: number; max?: number } = {},
): number {
  const text = field.text('a size such as 512m')
  const match = /^((?:0|[1-9]\d{0,14})(?:\.\d{1,6})?) ?([kmgt]?)i?b?$/i.exec(text)
  const bytes = match
    ? Math.floor(Number(match[1]) * 1024 ** powers.indexOf(match[2]!.toLowerCase()))
    : NaN
  if (bytes >= min && bytes <= max) return bytes
  const least = min > 0 ? ` from ${min / mebibyte}m` : ''
  throw field.refuse(
    `is ${quote(text)}, but must be a size such as 512m,${least} up to ${max / mebibyte}m.`,
  )
}

const milliseconds: Record<string, number> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

const day = 86_400_000

/** In milliseconds, from Compose's `1m30s`; by default a day at most. */
export function durationOf(field: Field, { max = day }: { max?: number } = {}): number {
  const text = field.text('a time such as 30s')
  const parts = [...text.matchAll(/(\d{1,12}(?:\.\d{1,6})?)(us|ms|s|m|h)/g)]
  const whole = parts.map(([part]) => part).join('') === text && text !== ''
  const sum = parts.reduce(
    (total, [, count, unit]) => total + Number(count) * milliseconds[unit!]!,
    0,
  )
  if ((whole || text === '0') && sum <= max) return sum
  throw field.refuse(
    `is ${quote(text)}, but must be a time such as 30s or 1m30s, up to ${max / 1000}s.`,
  )
}
