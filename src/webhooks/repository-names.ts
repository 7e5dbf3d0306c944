import { z } from 'zod'
import type { Db } from '../db/index.ts'
import { readRepositoryUrl } from '../git/repository-url.ts'
import { pause } from '../platform/pause.ts'
import { withoutTrailing } from '../platform/without-trailing.ts'
import { listCandidates } from './store.ts'
import type { Candidate } from './store.ts'

/** Names only select the projects to check; they prove nothing. */
type RepositoryNames = NonNullable<ReturnType<typeof namesIn>>

/** Normalised, for comparison. */
export type RepositoryAddress = { host: string; path: string }

/** In characters. No address is longer, and the sender isn't verified yet. */
const text = z.string().max(2000).nullish().catch(null)

export function namesIn(
  object: unknown,
  { fullName, addresses }: { fullName: string; addresses: string[] },
) {
  const fields = z.record(z.string(), z.unknown()).safeParse(object)
  if (!fields.success) return null
  const read = (key: string) => text.parse(fields.data[key]) || null
  const names = {
    /** `owner/name`; GitLab may have `group/subgroup/name`. */
    fullName: read(fullName),
    /** The addresses for https and ssh, and that of its page. */
    addresses: addresses.map(read).filter((a) => a !== null),
  }
  return names.fullName || names.addresses.length > 0 ? names : null
}

/**
 * Normalises an address; null when it is invalid. Protocol, user, port, a trailing `.git` and case are
 * ignored: `https://Host/Team/app` and `git@host:team/app.git` are one repository.
 */
export function repositoryAddressOf(address: string): RepositoryAddress | null {
  try {
    const { host, path } = readRepositoryUrl(withoutUser(address), { allowLocal: true })
    return { host, path: plainPath(path) }
  } catch {
    return null
  }
}

export const plainPath = (path: string) =>
  withoutTrailing(path.replace(/^\/+/, ''), '/')
    .replace(/\.git$/i, '')
    .toLowerCase()

const withoutUser = (address: string) => address.replace(/^(https?:\/\/)[^/@]*@/i, '$1')

export type Named = Candidate & { exact: boolean }

/**
 * Finds the projects that build this repository. `exact` ones have its address. Others only have its path, on
 * a host with another internal name, or the repository of their source. The signature decides which of them a
 * delivery is for. Round-robin by owner, so that no one's projects crowd out another's.
 */
export async function findReceivers(
  db: Db,
  { fullName, addresses }: RepositoryNames,
): Promise<Named[]> {
  const places = addresses.map(repositoryAddressOf).filter((place) => place !== null)
  const name = fullName && plainPath(fullName)
  const paths = new Set([name, ...places.map(({ path }) => path)].filter((path) => !!path))
  if (paths.size === 0) return []

  const found: Named[] = []
  for (const candidate of listCandidates(db, [...(paths as Set<string>)])) {
    const { repositoryUrl, repository } = candidate
    const own = repositoryAddressOf(repositoryUrl)
    const exact = places.some(({ host, path }) => host === own?.host && path === own.path)
    const named = name !== null && [own?.path, repository?.toLowerCase()].includes(name)
    if (exact || named) found.push({ ...candidate, exact })
    await pause()
  }
  return byTurns(found)
}

/** The first project of each owner, then the second of each, and so on. */
function byTurns(found: Named[]): Named[] {
  const seen = new Map<string, number>()
  const turns = found.map((named) => {
    const turn = seen.get(named.ownerId) ?? 0
    seen.set(named.ownerId, turn + 1)
    return { turn, named }
  })
  return turns.sort((a, b) => a.turn - b.turn).map(({ named }) => named)
}
