import type { CleanUp } from './clean-ups.ts'
import type { DiskShares } from './disk.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'
import { bytesOf, isTickedByDefault, itemOf, thingKind } from './kinds.ts'
import type { Thing } from './kinds.ts'
import type { Judged, Plan } from './plan.ts'

const thingJson = ({ kind, id, name, bytes }: Thing) => ({ kind: thingKind(kind), id, name, bytes })

const judgedJson = (thing: Judged) => ({
  ...thingJson(thing),
  item: itemOf(thing),
  owner: thing.owner,
  reason: thing.reason,
})

/** The response of a dry run: `removed` would be removed by default, `candidates` can be selected. */
export function previewJson({ candidates, kept }: Plan) {
  const going = candidates.filter(isTickedByDefault)
  return {
    dryRun: true,
    removed: going.map(thingJson),
    skipped: [],
    bytes: bytesOf(going),
    candidates: candidates.map((thing) => ({
      ...judgedJson(thing),
      byDefault: isTickedByDefault(thing),
    })),
    kept: kept.map(judgedJson),
  }
}

export const runJson = ({ by, startedAt, finishedAt, outcome, error }: CleanUp) => ({
  dryRun: false,
  removed: outcome.removed.map(thingJson),
  skipped: outcome.skipped.map((thing) => ({ ...thingJson(thing), reason: thing.reason })),
  bytes: bytesOf(outcome.removed),
  by,
  startedAt,
  finishedAt,
  complete: finishedAt !== null && error === null,
})

export const diskJson = ({ shares, space }: { shares: DiskShares; space: DiskSpace | null }) => ({
  use: shares,
  space: space && { size: space.size, free: space.free, usedPercent: space.used },
})
