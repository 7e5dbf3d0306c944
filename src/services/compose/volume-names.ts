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
  return `${readable.slice(0, 50)}-${own}`
}

/**
 * Gives each source a volume of its own: names derived from different ones may be the same. A name of the file itself
 * stays; then what is mounted keeps its volume, and then the first one in the file has the plain name. What was mounted
 * as one volume stays one, as its files can’t be told apart.
 */
export function settleVolumes(
  services: Iterable<Pick<Service, 'volumes'>>,
  isMounted: (mount: { volume: string; path: string }) => boolean = () => false,
) {
  const mounts = [...services].flatMap(({ volumes }) => volumes)
  const chosen = new Map<string, string>()
  for (const { derived, path } of mounts) {
    if (!derived || chosen.has(derived.source)) continue
    const names = [derived.plain, derived.own]
    const there = names.find((volume) => isMounted({ volume, path }))
    if (there) chosen.set(derived.source, there)
  }
  const named = mounts.flatMap(({ derived, volume }) => (derived ? [] : volume))
  const taken = new Set([...named, ...chosen.values()])
  for (const mount of mounts) {
    if (!mount.derived) continue
    const { source, plain, own } = mount.derived
    mount.volume = chosen.get(source) ?? (taken.has(plain) ? own : plain)
    chosen.set(source, mount.volume)
    taken.add(mount.volume)
  }
}
