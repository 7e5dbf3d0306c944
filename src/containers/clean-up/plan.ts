import { shownImage } from '../../runtime/images/private-names.ts'
import {
  isIdle,
  judgeBuildCache,
  judgeContainer,
  judgeImage,
  judgeNetwork,
  judgeVolume,
} from './verdicts.ts'
import type { Facts } from './store.ts'
import { pruneKinds } from './kinds.ts'
import type { PruneKind, Thing, Verdict } from './kinds.ts'

export type Judged = Thing &
  Pick<Verdict, 'owner' | 'reason'> & {
    /** Only set for build cache: true when nothing has used it for a day. */
    idle?: boolean
  }

/** Each item has a reason, phrased to follow its name in a sentence. */
export type Plan = { candidates: Judged[]; kept: Judged[] }

/** Decides from the facts alone, without asking the engine. */
export function planPrune(facts: Facts, what: readonly PruneKind[], now = new Date()): Plan {
  const { server } = facts
  const judged = pruneKinds
    .flatMap((kind) => (what.includes(kind) ? judges[kind](facts, now) : []))
    .map((thing) => (server ? { ...thing, server } : thing))
  return {
    candidates: judged.flatMap(({ may, ...thing }) => (may ? [thing] : [])),
    kept: judged.flatMap(({ may, ...thing }) => (may ? [] : [thing])),
  }
}

const judges: Record<PruneKind, (facts: Facts, now: Date) => (Thing & Verdict)[]> = {
  containers: (facts) =>
    facts.containers.map((container) => ({
      kind: 'containers',
      id: container.id,
      name: container.name,
      bytes: container.size,
      ...judgeContainer(container, facts),
    })),
  images: (facts) =>
    facts.images.map((image) => ({
      kind: 'images',
      id: image.id,
      name: shownImage(image.tags.join(', ')) || image.id.slice(0, 19),
      bytes: image.size - image.sharedSize,
      ...judgeImage(image, facts),
    })),
  networks: (facts) =>
    facts.networks.map((network) => ({
      kind: 'networks',
      id: network.id,
      name: network.name,
      bytes: 0,
      ...judgeNetwork(network, facts),
    })),
  volumes: (facts) =>
    facts.volumes.map((volume) => ({
      kind: 'volumes',
      id: volume.name,
      name: volume.name,
      bytes: volume.size,
      ...judgeVolume(volume, facts),
    })),
  build_cache: ({ buildCache }, now) =>
    judgeBuildCache(buildCache, now).map(({ entry, verdict }) => ({
      kind: 'build_cache',
      id: entry.id,
      name: entry.description.replace(/^mount \/ from exec \/bin\/sh -c /, '') || entry.type,
      bytes: entry.shared ? 0 : entry.size,
      idle: isIdle(entry, now),
      ...verdict,
    })),
}
