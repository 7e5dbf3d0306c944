import type { Db } from '../db/index.ts'
import { placeOf, plainPath } from './repository-names.ts'
import type { RepositoryNames } from './repository-names.ts'
import { listReceivers } from './store.ts'
import type { Receiver } from './store.ts'

/**
 * The projects that build this repository. `exact` ones have an address of it; others have only its
 * path, on a host that goes by another name inside, or the repository of their source. Which of them
 * a delivery is for, its signature says.
 */
export function findReceivers(db: Db, { fullName, addresses }: RepositoryNames) {
  const places = addresses.map(placeOf).filter((place) => place !== null)
  const name = fullName && plainPath(fullName)
  const paths = new Set([name, ...places.map(({ path }) => path)].filter((path) => !!path))
  if (paths.size === 0) return []

  return listReceivers(db, [...(paths as Set<string>)]).flatMap((receiver) => {
    const { repositoryUrl, repository } = receiver.project
    const own = placeOf(repositoryUrl)
    const exact = places.some(({ host, path }) => host === own?.host && path === own.path)
    const named = name !== null && [own?.path, repository?.toLowerCase()].includes(name)
    return exact || named ? [{ ...receiver, exact }] : []
  }) satisfies Receiver[]
}
