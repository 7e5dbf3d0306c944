import { join } from 'node:path/posix'
import type { Environment } from '../environments/store.ts'
import type { Project } from '../projects/store.ts'
import { watchedBy } from '../git/watched-path.ts'
import { parse } from '../platform/parse.ts'
import type { Push } from './push.ts'

/**
 * For each list of patterns, returns true when one of the paths matches a pattern or is below a match.
 * Without patterns everything is watched. Call it through `parse`.
 */
export function touchesEach(lists: string[][], paths: string[]): boolean[] {
  return lists.map((patterns) => patterns.length === 0 || paths.some(watchedBy(patterns)))
}

type Watching = {
  project: Pick<Project, 'ownerId' | 'watchPaths' | 'contextDir'>
  environments: Pick<Environment, 'id' | 'codeSettings'>[]
}

export async function untouchedBy(
  push: Pick<Push, 'paths'> | null,
  all: Watching[],
): Promise<Set<string>> {
  const watching = all.flatMap(({ project, environments }) =>
    environments
      .map(({ id, codeSettings }) => ({ id, patterns: patternsOf(project, codeSettings) }))
      .filter(({ patterns }) => patterns.length > 0),
  )
  const [first] = all
  if (!first || watching.length === 0 || !push?.paths) return new Set()
  const keyOf = ({ patterns }: { patterns: string[] }) => patterns.join('\0')
  const lists = new Map(watching.map((one) => [keyOf(one), one.patterns]))
  const tooLong = new Error('the paths of a push took too long to compare')
  const options = { tooLong: () => tooLong, owner: first.project.ownerId, deadline: 2_000 }
  const touched = await parse<typeof touchesEach>(
    'touchesEach',
    [[...lists.values()], push.paths],
    options,
  ).catch((error) => {
    if (error === tooLong) return [...lists].map(() => true) // rather deployed than missed
    throw error
  })
  const untouched = new Set([...lists.keys()].filter((_, index) => !touched[index]))
  return new Set(watching.filter((one) => untouched.has(keyOf(one))).map(({ id }) => id))
}

/** A push that changes the files themselves always counts: the live commit's patterns may be about to change. */
function patternsOf(project: Watching['project'], code: Environment['codeSettings']) {
  const own = code?.settings.watchPaths
  if (own === undefined || own.length === 0) return own ?? project.watchPaths
  return [...own, ...(code!.files ?? [join(project.contextDir, code!.file)])]
}
