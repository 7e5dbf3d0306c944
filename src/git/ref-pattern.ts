import { re2 } from '../platform/re2.ts'
import { sourceOf } from './path-pattern.ts'
import { refuseBranch } from './ref-names.ts'

export type NamedRef = { type: RefType; name: string }
export type RefType = 'branch' | 'tag'

/** In characters: a long one takes milliseconds to compile, and a push is compared with many. */
const maxLength = 100

/** git allows none of these characters in a name. */
export const isRefPattern = (text: string) => /[*?[]/.test(text)

/** Returns the reason why a name or a pattern of names is refused; null when it is valid. */
export function refuseRefPattern(text: string): string | null {
  if (!isRefPattern(text)) return refuseBranch(text)
  if (text.length > maxLength) return `A pattern can have at most ${maxLength} characters.`
  const wrong = rules.find(([rule]) => rule.test(text))?.[1]
  if (wrong) return wrong
  if (sourceOfPattern(text) === null)
    return 'The brackets can’t be read. Write [0-9] or [!0-9] for one character.'
  return refuseBranch(text.replace(/\[[^\]]*\]|\*+|\?/g, 'x'))
}

/** The dialect is the one in docs/git.md. The pattern must be valid. */
export function refMatcher(pattern: string): (name: string) => boolean {
  const { RE2JS } = re2()
  const compiled = RE2JS.compile(sourceOfPattern(pattern)!, RE2JS.DOTALL)
  return (name) => compiled.testExact(name)
}

const sourceOfPattern = (pattern: string) => sourceOf(pattern.replaceAll('[!', '[^'), 'docker')

const rules: [RegExp, string][] = [
  [/\\/, 'A pattern can’t contain “\\”: no name has the characters that it would escape.'],
  [/(\*[^*]*){11}/, 'A pattern can have at most 10 stars.'],
  [/[^/*]\*\*|\*\*[^/*]|\*\*\*/, 'A pattern can have ** only as a whole part, such as release/**.'],
]

export type MatchingRefs = {
  /** Highest number first: `v10` before `v9`. */
  items: NamedRef[]
  /** True when there are more. */
  truncated: boolean
}

const maxListed = 500

/** The refs in the output of `git ls-remote`. Null patterns match none. Call it through `parse`. */
export function matchingRefs(
  listing: string,
  patterns: Record<RefType, string | null>,
): MatchingRefs {
  const match = {
    branch: patterns.branch === null ? () => false : refMatcher(patterns.branch),
    tag: patterns.tag === null ? () => false : refMatcher(patterns.tag),
  }
  const found: NamedRef[] = []
  for (const [, kind, name] of listing.matchAll(/\trefs\/(heads|tags)\/(.+)$/gm)) {
    const type = kind === 'tags' ? 'tag' : 'branch'
    if (match[type](name!) && refuseBranch(name!) === null) found.push({ type, name: name! })
  }
  const { compare } = new Intl.Collator('en', { numeric: true })
  found.sort((a, b) => a.type.localeCompare(b.type) || compare(b.name, a.name))
  return { items: found.slice(0, maxListed), truncated: found.length > maxListed }
}
