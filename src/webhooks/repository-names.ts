import { z } from 'zod'
import { readRepositoryUrl } from '../git/repository-url.ts'
import { withoutTrailing } from '../platform/without-trailing.ts'

/** How a provider names a repository. They choose which projects are looked at, and nothing else. */
export type RepositoryNames = {
  /** `owner/name`, or with GitLab's groups `group/subgroup/name`. */
  fullName: string | null
  /** Its addresses: https, ssh, and of its page. */
  addresses: string[]
}

/** A repository's place: host and path without what spellings differ in. */
export type Place = { host: string; path: string }

/** No address is longer; whoever sends one has not been believed yet. */
const text = z.string().max(2000).nullish().catch(null)

/** The names under these keys of an object, or null when there are none. */
export function namesIn(
  object: unknown,
  { fullName, addresses }: { fullName: string; addresses: string[] },
): RepositoryNames | null {
  const fields = z.record(z.string(), z.unknown()).safeParse(object)
  if (!fields.success) return null
  const read = (key: string) => text.parse(fields.data[key]) || null
  const names = {
    fullName: read(fullName),
    addresses: addresses.map(read).filter((a) => a !== null),
  }
  return names.fullName || names.addresses.length > 0 ? names : null
}

/**
 * Where an address leads, or null when it is none. Protocol, user, port, a closing `.git` and upper
 * case make no difference: `https://Host/Team/app` and `git@host:team/app.git` are one repository.
 */
export function placeOf(address: string): Place | null {
  try {
    const { host, path } = readRepositoryUrl(withoutUser(address), { allowLocal: true })
    return { host, path: plainPath(path) }
  } catch {
    return null
  }
}

/** A path in the one spelling that paths are compared in. */
export const plainPath = (path: string) =>
  withoutTrailing(path.replace(/^\/+/, ''), '/')
    .replace(/\.git$/i, '')
    .toLowerCase()

const withoutUser = (address: string) => address.replace(/^(https?:\/\/)[^/@]*@/i, '$1')
