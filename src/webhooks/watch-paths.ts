import type { Project } from '../projects/store.ts'
import { refuseWatchedPath, watchedBy } from '../git/watched-path.ts'
import { EffortSpent } from '../platform/automaton.ts'
import { parse } from '../platform/parse.ts'
import type { Push } from './push.ts'

/** Steps that are enough for realistic patterns and a push of any size. */
const someSteps = 20_000_000

/**
 * For each list of patterns whether one of the paths is watched: it matches a pattern, or is below one.
 * Without patterns, or when the steps are used up, everything is watched. Call it through `parse`.
 */
export function touchesEach(lists: string[][], paths: string[]): boolean[] {
  const effort = { left: someSteps }
  return lists.map((patterns) => {
    // an earlier version saved what is refused now: a push too many is better than none
    if (patterns.length === 0 || patterns.some(refuseWatchedPath)) return true
    const matchers = patterns.map(watchedBy)
    try {
      return paths.some((path) => matchers.some((matches) => matches(path, effort)))
    } catch (error) {
      if (error instanceof EffortSpent) return true
      throw error
    }
  })
}

/** The ids of projects that watch paths, none of which are in the push. */
export async function untouchedBy(
  push: Pick<Push, 'paths'> | null,
  projects: Pick<Project, 'id' | 'ownerId' | 'watchPaths'>[],
): Promise<Set<string>> {
  const watching = projects.filter(({ watchPaths }) => watchPaths.length > 0)
  const [first] = watching
  if (!first || !push?.paths) return new Set()
  const lists = watching.map(({ watchPaths }) => watchPaths)
  const options = { tooLong: () => new EffortSpent(), owner: first.ownerId }
  const touched = await parse({ touchesEach }, [lists, push.paths], options).catch((error) => {
    if (error instanceof EffortSpent) return lists.map(() => true)
    throw error
  })
  return new Set(watching.filter((_, index) => !touched[index]).map(({ id }) => id))
}
