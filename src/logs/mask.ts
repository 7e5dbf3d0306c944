import { atCuts, hide } from './mask-cuts.ts'
import type { Cuts, Range } from './mask-cuts.ts'

/** Hides what is secret in a text, also what of it lies at the places where the text was cut. */
export type Mask = (text: string, cuts?: Cuts) => string

/** Shorter texts are too common to be masked, and too short to be secrets. */
const minLength = 4

/** Returns a function that replaces each secret, and its base64, URL and JSON forms, by `***`. */
export function masking(secrets: string[]): Mask {
  const forms = new Set(secrets.flatMap(formsOf).filter((form) => form.length >= minLength))
  if (forms.size === 0) return (text) => text
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.map((form) => RegExp.escape(form)).join('|'), 'g')
  return function mask(text, cuts) {
    if (!cuts?.before && !cuts?.after) return text.replace(pattern, '***')
    const whole = [...text.matchAll(pattern)].map(({ index, 0: found }): Range => [
      index,
      index + found.length,
    ])
    return hide(text, [...whole, ...atCuts(text, { forms: longestFirst, minLength, cuts })])
  }
}

const formsOf = (secret: string) => [
  secret,
  // a secret of several lines shows up in a log line by line
  ...secret.split('\n').map((line) => line.trim()),
  ...base64Of(secret),
  ...base64Of(`${secret}\n`), // as `echo` writes it
  encodeURIComponent(secret),
  new URLSearchParams({ '': secret }).toString().slice(1),
  JSON.stringify(secret).slice(1, -1),
]

/** Without the padding, which not everyone writes; and in lines of 76, as `base64` prints it. */
function base64Of(text: string) {
  const encoded = Buffer.from(text).toString('base64').replace(/=+$/, '')
  const urlSafe = Buffer.from(text).toString('base64url')
  return [encoded, urlSafe, ...(encoded.match(/.{1,76}/g) ?? [])]
}
