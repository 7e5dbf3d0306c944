import type { Project } from '../projects/store.ts'
import { refuseWatchedPath, watchedBy } from '../git/watched-path.ts'
import { parse } from '../platform/parse.ts'
import type { Push } from './push.ts'

/**
 * For each list of patterns, returns true when one of the paths matches a pattern or is below a match.
 * Without patterns everything is watched. Call it through `parse`.
 */
export function touchesEach(lists: string[][], paths: string[]): boolean[] {
  return lists.map(
    (patterns) =>
      // Invalid patterns may have been saved by an earlier version. A needless deployment is better than a
      // missing one.
      patterns.length === 0 || patterns.some(refuseWatchedPath) || paths.some(watchedBy(patterns)),
  )
}

/** Returns the ids of projects that watch paths, none of which are in the push. */
export async function untouchedBy(
  push: Pick<Push, 'paths'> | null,
  projects: Pick<Project, 'id' | 'ownerId' | 'watchPaths'>[],
): Promise<Set<string>> {
  const watching = projects.filter(({ watchPaths }) => watchPaths.length > 0)
  const [first] = watching
  if (!first || !push?.paths) return new Set()
  const lists = watching.map(({ watchPaths }) => watchPaths)
  const tooLong = new Error('the paths of a push took too long to compare')
  const options = { tooLong: () => tooLong, owner: first.ownerId, deadline: 2_000 }
  const touched = await parse<typeof touchesEach>(
    'touchesEach',
    [lists, push.paths],
    options,
  ).catch((error) => {
    if (error === tooLong) return lists.map(() => true) // rather deployed than missed
    throw error
  })
  return new Set(watching.filter((_, index) => !touched[index]).map(({ id }) => id))
}
