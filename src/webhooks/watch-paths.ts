import type { Project } from '../projects/store.ts'
import { refuseWatchedPath, watchedBy } from '../git/watched-path.ts'
import { EffortSpent } from '../platform/automaton.ts'
import { parse } from '../platform/parse.ts'
import type { Push } from './push.ts'

/** Enough for realistic patterns and a push of any size. */
const someSteps = 20_000_000

/**
 * For each list of patterns, returns true when one of the paths matches a pattern or is below a match.
 * Without patterns, or when the budget is used up, everything is watched. Call it through `parse`.
 */
export function touchesEach(lists: string[][], paths: string[]): boolean[] {
  const effort = { left: someSteps }
  return lists.map((patterns) => {
    // Invalid patterns may have been saved by an earlier version. A needless deployment is better than a
    // missing one.
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

/** Returns the ids of projects that watch paths, none of which are in the push. */
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
