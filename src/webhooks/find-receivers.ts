import type { Db } from '../db/index.ts'
import { pause } from '../platform/pause.ts'
import { placeOf, plainPath } from './repository-names.ts'
import type { RepositoryNames } from './repository-names.ts'
import { listCandidates } from './store.ts'
import type { Candidate } from './store.ts'

/** `exact`: the project has an address of the repository that the delivery names. */
export type Named = Candidate & { exact: boolean }

/**
 * The projects that build this repository. `exact` ones have an address of it; others have only its
 * path, on a host that goes by another name inside, or the repository of their source. Which of them
 * a delivery is for, its signature says. Owners take turns, so that no one's projects crowd out another's.
 */
export async function findReceivers(
  db: Db,
  { fullName, addresses }: RepositoryNames,
): Promise<Named[]> {
  const places = addresses.map(placeOf).filter((place) => place !== null)
  const name = fullName && plainPath(fullName)
  const paths = new Set([name, ...places.map(({ path }) => path)].filter((path) => !!path))
  if (paths.size === 0) return []

  const found: Named[] = []
  for (const candidate of listCandidates(db, [...(paths as Set<string>)])) {
    const { repositoryUrl, repository } = candidate
    const own = placeOf(repositoryUrl)
    const exact = places.some(({ host, path }) => host === own?.host && path === own.path)
    const named = name !== null && [own?.path, repository?.toLowerCase()].includes(name)
    if (exact || named) found.push({ ...candidate, exact })
    await pause()
  }
  return byTurns(found)
}

/** The first of each owner, then the second of each, and so on. */
function byTurns(found: Named[]): Named[] {
  const seen = new Map<string, number>()
  const turns = found.map((named) => {
    const turn = seen.get(named.ownerId) ?? 0
    seen.set(named.ownerId, turn + 1)
    return { turn, named }
  })
  return turns.sort((a, b) => a.turn - b.turn).map(({ named }) => named)
}
