/** Why git would not take this as the name of a branch, in words, or null when it would. */
export function refuseBranch(name: string): string | null {
  if (name === '') return 'A branch needs a name.'
  if (name.length > 250) return 'A branch’s name has at most 250 characters.'
  return rules.find(([pattern]) => pattern.test(name))?.[1] ?? null
}

/** A whole commit hash, SHA-1 or SHA-256; git would take any shorter text for a name. */
export const isCommit = (text: string) => /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(text)

// What `git check-ref-format --branch` refuses. Everything else is legal, `$(id)` and `a;b` too.
const rules: [RegExp, string][] = [
  [/^-/, 'A branch’s name cannot begin with “-”.'],
  [/[\x00-\x20\x7f]/, 'A branch’s name cannot hold spaces or control characters.'],
  [/[~^:?*[\\]/, 'A branch’s name cannot hold any of ~ ^ : ? * [ \\'],
  [/\.\./, 'A branch’s name cannot hold “..”.'],
  [/@\{/, 'A branch’s name cannot hold “@{”.'],
  [/^HEAD$/, '“HEAD” has a meaning of its own in git: it cannot be a branch’s name.'],
  [/^\/|\/$|\/\//, 'A branch’s name cannot begin or end with “/”, nor hold “//”.'],
  [/(^|\/)\./, 'No part of a branch’s name can begin with “.”.'],
  [/\.$/, 'A branch’s name cannot end with “.”.'],
  [/\.lock(\/|$)/, 'No part of a branch’s name can end with “.lock”.'],
]
