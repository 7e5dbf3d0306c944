import { parsePattern } from './path-pattern.ts'
import type { Matcher } from './path-pattern.ts'

/**
 * Reads a .dockerignore and tells which paths of a context it leaves out, as the documentation
 * of Docker says: the last line that matches a path, or a folder above it, decides.
 */
export function parseDockerignore(text: string): (path: string) => boolean {
  const rules = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#'))
    .map((line) => parseRule(line.trim()))
    .filter((rule) => rule !== null)
  const lastFirst = rules.reverse()
  return (path) => lastFirst.find(({ matches }) => matches(path))?.ignore ?? false
}

type Rule = { ignore: boolean; matches: Matcher }

function parseRule(line: string): Rule | null {
  const ignore = !line.startsWith('!')
  const pattern = cleanPath(ignore ? line : line.slice(1).trim())
  return pattern === '' ? null : { ignore, matches: parsePattern(pattern) }
}

/** Drops empty parts and “.”, and takes back the part before each “..”. */
function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part === '..' && path.startsWith('/')) continue
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
