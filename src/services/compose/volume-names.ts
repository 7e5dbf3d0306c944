import { posix } from 'node:path'
import { withoutTrailing } from '../../platform/without-trailing.ts'
import type { Derived, Service } from './model.ts'

/** Of what a file mounts without a source, so that the data outlives the container. */
export function anonymousVolume(service: string, path: string): Derived {
  const plain = `${service}${path.replace(/[^a-zA-Z0-9_.-]+/g, '-')}`.slice(0, 63)
  const source = `${service} ${path}`
  return { source, plain, own: ownName(plain, source) }
}

/** Of what replaces a directory beside the file. */
export function directoryVolume(directory: string): Derived {
  const readable = directory.replace(/[^a-zA-Z0-9_-]+/g, '-').replace(/^[-_]+/, '')
  const plain = (withoutTrailing(readable, '-') || 'data').slice(0, 63)
  // two spellings of one directory with different names have always been two volumes
  const source = `${plain} ./${withoutTrailing(posix.normalize(directory), '/')}`
  return { source, plain, own: ownName(plain, source) }
}

/** Readable, and different from the names of other sources. */
export function ownName(readable: string, source: string) {
  const own = new Bun.CryptoHasher('sha256').update(source).digest('hex').slice(0, 8)
  return `${readable.slice(0, maxReadable)}-${own}`
}

/** True for what may be one whose readable part begins so. */
export const isOwnName = (name: string, start: string) =>
  name.startsWith(start.slice(0, maxReadable)) && /-[0-9a-f]{8}$/.test(name)

/** In characters. */
const maxReadable = 50

/** What a container of a service mounted until now. */
export type Mounted = { service: string; volume: string; path: string }

/**
 * Gives each source a volume of its own: names derived from different ones may be the same. A name of the file itself
 * stays; then what was mounted keeps its volume, and then the first one in the file has the plain name. What was mounted
 * as one volume stays one, as its files can’t be told apart.
 */
export function settleVolumes(
  services: Iterable<Pick<Service, 'name' | 'volumes'>>,
  mountedBefore: () => Mounted[] = () => [],
) {
  const mounts = [...services].flatMap(({ name, volumes }) =>
    volumes.map((mount) => ({ service: name, mount })),
  )
  const before = mounts.some(({ mount }) => mount.derived) ? mountedBefore() : []
  const chosen = new Map<string, string>()
  const names = new Set(before.map(({ volume }) => volume))
  // no other source can have had its own name, while the plain one may be another’s at the same path
  choose(({ own }) => (names.has(own) ? own : null))
  const known = new Set(before.map((one) => placeOf(one) + one.volume))
  choose(({ plain }, at) => (known.has(placeOf(at) + plain) ? plain : null))
  const now = new Set(mounts.map(({ service, mount: { path } }) => placeOf({ service, path })))
  const left = before.filter((one) => !now.has(placeOf(one))) // of services with another name now
  choose(({ plain }, { path }) =>
    left.some((one) => one.volume === plain && one.path === path) ? plain : null,
  )
  const named = mounts.flatMap(({ mount: { derived, volume } }) => (derived ? [] : volume))
  const taken = new Set([...named, ...chosen.values()])
  for (const { mount } of mounts) {
    if (!mount.derived) continue
    const { source, plain, own } = mount.derived
    mount.volume = chosen.get(source) ?? (taken.has(plain) ? own : plain)
    chosen.set(source, mount.volume)
    taken.add(mount.volume)
  }

  function choose(volumeOf: (derived: Derived, place: Omit<Mounted, 'volume'>) => string | null) {
    for (const { service, mount } of mounts) {
      const { derived, path } = mount
      if (!derived || chosen.has(derived.source)) continue
      const volume = volumeOf(derived, { service, path })
      if (volume !== null) chosen.set(derived.source, volume)
    }
  }
}

const placeOf = ({ service, path }: Omit<Mounted, 'volume'>) => `${service} ${path} `
