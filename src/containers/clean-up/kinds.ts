/** What can be cleaned up, in the order in which it goes: a container that went lets others go. */
export const pruneKinds = ['containers', 'images', 'networks', 'volumes', 'build_cache'] as const

export type PruneKind = (typeof pruneKinds)[number]

/** One thing on the engine. */
export type Thing = {
  kind: PruneKind
  id: string
  name: string
  /** What its end gives back at least; null where the engine can't tell. */
  bytes: number | null
}

/**
 * Whose it is: made by this installation, or by someone else. The build cache is the builder's, which
 * keeps it for all who build; nothing is lost by its end but time.
 */
type Owner = 'davit' | 'builder' | 'other'

/** Whether a thing may go, and why or why not. */
export type Verdict = { may: boolean; owner: Owner; reason: string }

const singular = {
  containers: 'container',
  images: 'image',
  networks: 'network',
  volumes: 'volume',
  build_cache: 'build_cache',
} as const satisfies Record<PruneKind, string>

type ThingKind = (typeof singular)[PruneKind]

export const thingKind = (kind: PruneKind): ThingKind => singular[kind]

/** As a thing is named in a request: `image:sha256:…`. */
export const itemOf = ({ kind, id }: Pick<Thing, 'kind' | 'id'>) => `${singular[kind]}:${id}`

/** Null when it names no kind. */
export function parseItem(item: string): Pick<Thing, 'kind' | 'id'> | null {
  const at = item.indexOf(':')
  const kind = pruneKinds.find((kind) => singular[kind] === item.slice(0, at))
  return kind && at < item.length - 1 ? { kind, id: item.slice(at + 1) } : null
}

/** Such as `2 images, 1 network`. */
export function countByKind(things: Pick<Thing, 'kind'>[]) {
  const counts = pruneKinds.flatMap((kind) => {
    const count = things.filter((thing) => thing.kind === kind).length
    return count > 0 ? [`${count} ${count === 1 ? one(kind) : many(kind)}`] : []
  })
  return counts.join(', ') || 'nothing'
}

const many = (kind: PruneKind) => (kind === 'build_cache' ? 'entries of the build cache' : kind)

const one = (kind: PruneKind) =>
  kind === 'build_cache' ? 'entry of the build cache' : singular[kind]
