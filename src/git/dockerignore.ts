import { Failure } from '../platform/errors.ts'
import { re2 } from '../platform/re2.ts'
import { sourceOf } from './path-pattern.ts'

type Rule = { ignores: boolean; source: string }

/** Returns a 1 for each excluded path, in order. `paths` each end with a NUL. Call it through `parse`. */
export function ignoredPaths(text: string, paths: string, { file }: { file: string }): Uint8Array {
  const list = paths.split('\0')
  list.pop()
  const isIgnored = parseDockerignore(text, { file })
  return Uint8Array.from(list, (path) => (isIgnored(path) ? 1 : 0))
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
  const { RE2JS, RE2Set } = re2()
  // One automaton for all, so that its memory is limited.
  const patterns = new RE2Set(RE2Set.ANCHOR_BOTH, RE2JS.DOTALL)
  for (const { source } of rules) patterns.add(source)
  /** The folders above the last path from the outermost, each with the rules that match it. */
  const open: { path: string; matched: number[] }[] = []

  return (path) => {
    const parts = path.split('/')
    parts.pop()
    let folder = ''
    for (const [depth, part] of parts.entries()) {
      folder = depth === 0 ? part : `${folder}/${part}`
      if (open[depth]?.path === folder) continue
      open.length = depth
      open.push({ path: folder, matched: match(folder).matched })
    }
    open.length = parts.length
    return match(path).isIgnored
  }

  function match(path: string) {
    const above = new Set(open.at(-1)?.matched)
    const candidates = [...above.union(new Set(patterns.match(path)))].sort((a, b) => a - b)
    const matched: number[] = []
    let isIgnored = false
    for (const index of candidates) {
      const { ignores } = rules[index]!
      if (!above.has(index) && ignores === isIgnored) continue
      matched.push(index)
      isIgnored = ignores
    }
    return { matched, isIgnored }
  }
}

function ruleOf(line: string, { file, number }: { file: string; number: number }): Rule[] {
  const text = line.startsWith('#') ? '' : line.trim()
  if (text === '') return []
  const ignores = !text.startsWith('!')
  const written = ignores ? text : text.slice(1).trim()
  const pattern = cleanPath(written)
  const excludesNothing = !ignores && /^\/*$/.test(written)
  const source = sourceOf(pattern, 'docker')
  if (excludesNothing || source === null) throw invalid(text, { file, number })
  return pattern === '' ? [] : [{ ignores, source }]
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
