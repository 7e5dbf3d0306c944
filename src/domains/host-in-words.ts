import { domainToASCII, domainToUnicode } from 'node:url'

/**
 * The Unicode form of an international name, for display beside its ASCII form. Null when both are the same,
 * or when it has anything but letters, digits, dots and hyphens of one script.
 */
export function hostInWords(host: string): string | null {
  if (!host.includes('xn--')) return null
  const text = domainToUnicode(host)
  if (text === '' || text === host || domainToASCII(text) !== host) return null
  return text.split('.').every(isPlain) ? text : null
}

/** Mixed scripts in one word can imitate another name. */
const isPlain = (label: string) =>
  /^[\p{L}\p{M}\p{Nd}-]+$/u.test(label) && scripts.some((script) => script.test(label))

const scripts = [
  /^[\p{Script=Latin}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Greek}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Cyrillic}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Lm}\p{Nd}-]+$/u,
  /^[\p{Script=Hangul}\p{Script=Han}\p{Nd}-]+$/u,
  /^[\p{Script=Arabic}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Hebrew}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Devanagari}\p{M}\p{Nd}-]+$/u,
  /^[\p{Script=Thai}\p{M}\p{Nd}-]+$/u,
]
