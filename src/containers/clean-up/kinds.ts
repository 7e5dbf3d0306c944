import { firstServer } from '../../platform/root.ts'
import { counted } from '../../web/units.ts'

/** In order of removal: removing a container can free an image, a network or a volume. */
export const pruneKinds = ['containers', 'images', 'networks', 'volumes', 'build_cache'] as const

export type PruneKind = (typeof pruneKinds)[number]

export type Thing = {
  kind: PruneKind
  id: string
  name: string
  /** At least these bytes are freed by its removal; null when unknown. */
  bytes: number | null
  /** Undefined for Davit’s own. */
  server?: OtherServer | undefined
}

export type OtherServer = { id: string; name: string }

/**
 * This installation, or someone else. The build cache belongs to the
 * builder, for all builds; removing it only costs time.
 */
type Owner = 'davit' | 'builder' | 'other'

/** `reason` explains either answer. */
export type Verdict = { may: boolean; owner: Owner; reason: string }

export const singular = {
  containers: 'container',
  images: 'image',
  networks: 'network',
  volumes: 'volume',
  build_cache: 'build_cache',
} as const satisfies Record<PruneKind, string>

export const kindLabels: Record<PruneKind, string> = {
  containers: 'Containers',
  images: 'Images',
  networks: 'Networks',
  volumes: 'Volumes',
  build_cache: 'Build cache',
}

export const optionsOf = (kinds: readonly PruneKind[]) =>
  kinds.map((kind) => ({ value: kind, label: kindLabels[kind] }))

/** By default nothing is removed that belongs to others or holds data. */
export const isTickedByDefault = ({ kind, owner }: { kind: PruneKind; owner: Owner }) =>
  kind !== 'volumes' && owner !== 'other'

export const bytesOf = (things: Thing[]) => things.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)

export type Skipped = Thing & { reason: string }

/** Skipped items were requested but kept; servers that were away are named. */
export type Outcome = { removed: Thing[]; skipped: Skipped[]; away: string[] }

export const emptyOutcome = (): Outcome => ({ removed: [], skipped: [], away: [] })

/** The form of an item in a request: `image:sha256:…`, and `@` with the id of another server. */
export const itemOf = ({ kind, id, server }: Pick<Thing, 'kind' | 'id' | 'server'>) =>
  `${singular[kind]}:${id}${server ? `@${server.id}` : ''}`

/** Selects everything of a kind that is removed by default. */
export const allOf = (kind: PruneKind) => itemOf({ kind, id: '*' })

/** Returns null for an unknown kind, and for `*` of a kind with data: its items must be named one by one. */
export function parseItem(
  item: string,
): (Pick<Thing, 'kind' | 'id'> & { serverId: string }) | null {
  const at = item.indexOf(':')
  const [id = '', serverId = firstServer] = item.slice(at + 1).split('@')
  const kind = pruneKinds.find((kind) => singular[kind] === item.slice(0, at))
  const isAll = item.slice(at) === ':*'
  return kind && at < item.length - 1 && !(isAll && kind === 'volumes')
    ? { kind, id, serverId }
    : null
}

/** Such as `2 images, 1 network`. */
export function countByKind(things: Pick<Thing, 'kind'>[]) {
  const counts = pruneKinds.flatMap((kind) => {
    const count = things.filter((thing) => thing.kind === kind).length
    return count > 0 ? [counted(count, one(kind), many(kind))] : []
  })
  return counts.join(', ') || 'nothing'
}

const many = (kind: PruneKind) => (kind === 'build_cache' ? 'entries of the build cache' : kind)

const one = (kind: PruneKind) =>
  kind === 'build_cache' ? 'entry of the build cache' : singular[kind]
