import { parsePattern } from '../git/path-pattern.ts'

/** Whether one of the paths is watched: it matches a pattern, or lies below one. No patterns watch all. */
export function touches(patterns: string[], paths: string[]) {
  if (patterns.length === 0) return true
  const matchers = patterns.map((pattern) => parsePattern(pattern.replace(/^\.?\/|\/+$/g, '')))
  return paths.some((path) => matchers.some((matches) => matches(path)))
}
