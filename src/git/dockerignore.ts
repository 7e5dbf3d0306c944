import { Failure } from '../platform/errors.ts'
import { EffortSpent, spend } from '../platform/automaton.ts'
import type { Effort } from '../platform/automaton.ts'
import { isPattern, parsePattern } from './path-pattern.ts'
import type { Matcher } from './path-pattern.ts'

/** A step compares a path, or a character with one position in a pattern. The total is some seconds. */
const newBudget = (): Effort => ({ left: 200_000_000 })

type Rule = { ignores: boolean; matches: Matcher }

/** Returns a 1 for each excluded path, in order. `paths` each end with a NUL. Call it through `parse`. */
export function ignoredPaths(text: string, paths: string, { file }: { file: string }): Uint8Array {
  const list = paths.split('\0')
  list.pop()
  const isIgnored = parseDockerignore(text, { file })
  try {
    return Uint8Array.from(list, (path) => (isIgnored(path) ? 1 : 0))
  } catch (error) {
    throw error instanceof EffortSpent ? ignoringTooHard() : error
  }
}

/**
 * Decides which paths of a context are excluded, as Docker's builds do: the last pattern that matches a path
 * wins, and a match of a folder covers everything below it. But a line with “!” matches no folder that wasn't
 * excluded before. Paths of one folder should be adjacent.
 */
export function parseDockerignore(
  text: string,
  { file = '.dockerignore' } = {},
): (path: string) => boolean {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line, index) => ruleOf(line, { file, number: index + 1 }))
  const effort = newBudget()
  /** The folders above the last path from the outermost, each with the rules that match it. */
  const open: { path: string; matched: Uint8Array }[] = []

  return (path) => {
    const parts = path.split('/')
    parts.pop()
    let folder = ''
    for (const [depth, part] of parts.entries()) {
      folder = depth === 0 ? part : `${folder}/${part}`
      if (open[depth]?.path === folder) continue
      open.length = depth
      const matched = new Uint8Array(rules.length)
      apply(folder, open.at(-1)?.matched, matched)
      open.push({ path: folder, matched })
    }
    open.length = parts.length
    return apply(path, open.at(-1)?.matched, null)
  }

  function apply(path: string, above: Uint8Array | undefined, matched: Uint8Array | null) {
    let ignored = false
    spend(effort, rules.length)
    for (let index = 0; index < rules.length; index++) {
      const { ignores, matches } = rules[index]!
      const isMatch = above?.[index] === 1 || (ignores !== ignored && matches(path, effort))
      if (!isMatch) continue
      if (matched) matched[index] = 1
      ignored = ignores
    }
    return ignored
  }
}

function ruleOf(line: string, { file, number }: { file: string; number: number }): Rule[] {
  const text = line.startsWith('#') ? '' : line.trim()
  if (text === '') return []
  const ignores = !text.startsWith('!')
  const written = ignores ? text : text.slice(1).trim()
  const pattern = cleanPath(written)
  const excludesNothing = !ignores && /^\/*$/.test(written)
  if (excludesNothing || !isPattern(pattern)) throw invalid(text, { file, number })
  return pattern === '' ? [] : [{ ignores, matches: parsePattern(pattern, 'docker') }]
}

/** Drops empty parts and “.”, and removes the part before each “..”. */
function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part === '..' && path.startsWith('/')) continue
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

const invalid = (line: string, { file, number }: { file: string; number: number }) =>
  new Failure(
    'dockerignore_invalid',
    `Line ${number} of ${file} isn’t a valid pattern: “${line.slice(0, 80)}”.`,
    'Correct the line: close each bracket, write \\[ for a bracket itself, and a path after “!”.',
  )

export const ignoringTooHard = () =>
  new Failure(
    'dockerignore_too_hard',
    'Comparing the files of the repository with its .dockerignore takes too long.',
    'Use fewer patterns with fewer stars, and exclude whole folders.',
  )
