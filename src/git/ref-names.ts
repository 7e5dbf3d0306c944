/** Returns the reason why git refuses the branch name; null when it is valid. */
export function refuseBranch(name: string): string | null {
  if (name === '') return 'Enter a branch.'
  if (name.length > 250) return 'A branch name can have at most 250 characters.'
  return rules.find(([pattern]) => pattern.test(name))?.[1] ?? null
}

/** A full hash, SHA-1 or SHA-256. git would read any shorter text as a name. */
export const isCommit = (text: string) => /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(text)

// The rules of `git check-ref-format --branch`. Everything else is valid, even `$(id)` and `a;b`.
const rules: [RegExp, string][] = [
  [/^-/, 'A branch name can’t begin with “-”.'],
  [/[\x00-\x20\x7f]/, 'A branch name can’t contain spaces or control characters.'],
  [/[~^:?*[\\]/, 'A branch name can’t contain ~ ^ : ? * [ \\'],
  [/\.\./, 'A branch name can’t contain “..”.'],
  [/@\{/, 'A branch name can’t contain “@{”.'],
  [/^HEAD$/, '“HEAD” is reserved by git and can’t be a branch name.'],
  [/^\/|\/$|\/\//, 'A branch name can’t begin or end with “/”, or contain “//”.'],
  [/(^|\/)\./, 'No part of a branch name can begin with “.”.'],
  [/\.$/, 'A branch name can’t end with “.”.'],
  [/\.lock(\/|$)/, 'No part of a branch name can end with “.lock”.'],
]
