import { parseReference } from './image-registry.ts'

/** Numbers, then `*` for one or more further ones; a suffix, which may end in `*`, is a pre-release or a variant. */
const grammar = /^(v?)((?:\d{1,15}\.){0,3})\*(?:-([\w.-]*\*?))?$/

/** Up to four numbers, as versions and dates have them. */
const version = /^(v?)(\d{1,15}(?:\.\d{1,15}){0,3})(?:-([\w.-]+))?$/

type Pattern = { v: string; numbers: number[]; suffix: string | null }
type Version = { tag: string; numbers: number[]; suffix: string | null }

/** The image of a project: a reference, whose tag means nothing beside a pattern. Null when invalid. */
export function parseImage(text: string) {
  const [, name = text, pattern = null] = /^([^*]*):([^:/@]*\*[^:/@]*)$/.exec(text) ?? []
  const reference = parseReference(name)
  if (!reference) return null
  if (pattern === null) return { reference, pattern }
  const isTagged = /[:@][^/]*$/.test(name)
  return isTagged || !readPattern(pattern) ? null : { reference, pattern }
}

/** True for a tag, which may move; not for a pattern, nor for a digest. */
export function isTag(image: string) {
  const { reference, pattern } = parseImage(image)!
  return pattern === null && reference.digest === null
}

export const withTag = (image: string, tag: string) =>
  `${image.replace(/@[^/]*$/, '').replace(/:[^/]*$/, '')}:${tag}`

/** The newest of the tags that match a pattern; null when none does. */
export function newestTag(tags: Iterable<string>, pattern: string): string | null {
  const wanted = readPattern(pattern)!
  let newest: Version | null = null
  for (const tag of tags) {
    const found = matching(tag, wanted)
    if (found && (!newest || compare(found, newest) > 0)) newest = found
  }
  return newest?.tag ?? null
}

/** The tag that a project follows, of those that are new; null when it follows none of them. */
export function followedTag(image: string, tags: string[]): string | null {
  const { reference, pattern } = parseImage(image)!
  if (pattern !== null) return newestTag(tags, pattern)
  return tags.find((tag) => tag === reference.tag) ?? null
}

function readPattern(text: string): Pattern | null {
  const [, v, numbers, suffix = null] = grammar.exec(text) ?? []
  if (v === undefined || suffix === '' || text.length > 100) return null
  return { v, numbers: numbers!.split('.').filter(Boolean).map(Number), suffix }
}

function matching(tag: string, { v, numbers, suffix }: Pattern): Version | null {
  const [, prefix, written, own = null] = version.exec(tag) ?? []
  if (written === undefined || prefix !== v) return null
  const found = written.split('.').map(Number)
  if (found.length <= numbers.length || numbers.some((number, at) => found[at] !== number))
    return null
  const isSuffix = suffix?.endsWith('*') ? own?.startsWith(suffix.slice(0, -1)) : own === suffix
  return isSuffix ? { tag, numbers: found, suffix: own } : null
}

/** The precedence of Semantic Versioning; a missing number counts as 0, and of equal ones the longer is newer. */
function compare(a: Version, b: Version): number {
  for (const at of [0, 1, 2, 3]) {
    const difference = (a.numbers[at] ?? 0) - (b.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  return compareSuffixes(a.suffix, b.suffix) || a.numbers.length - b.numbers.length
}

function compareSuffixes(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const [one, other] = [a.split('.'), b.split('.')]
  for (const [at, part] of one.entries()) {
    const against = other[at]
    if (against === undefined) return 1
    if (part === against) continue
    const areNumbers = [part, against].map((text) => /^\d+$/.test(text))
    if (areNumbers[0] && areNumbers[1] && Number(part) !== Number(against))
      return Number(part) - Number(against)
    if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1
    if (part !== against) return part < against ? -1 : 1
  }
  return one.length - other.length
}
