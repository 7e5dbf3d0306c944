import { z } from 'zod'
import { firstServer } from '../../platform/root.ts'
import { component, componentOf, id, time, nothing, does } from '../../web/operation.ts'
import type { SliceOperations } from '../../web/operation.ts'
import { scheduledKinds } from './forms.ts'
import type { CleanUp } from './clean-ups.ts'
import type { DiskShares, OtherDisk } from './disk.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'
import { bytesOf, isTickedByDefault, itemOf, singular } from './kinds.ts'
import type { Thing } from './kinds.ts'
import type { Judged, Plan } from './plan.ts'

const thing = () =>
  z.object({
    kind: z.enum(Object.values(singular)),
    id: z.string(),
    name: z.string(),
    bytes: z.int().nullable(),
    serverId: id,
  })

const judged = () =>
  thing().extend({
    item: z.string(),
    owner: z.enum(['davit', 'builder', 'other']),
    reason: z.string(),
  })

const outcome = () =>
  z.object({
    dryRun: z.boolean(),
    removed: z.array(thing()),
    skipped: z.array(thing().extend({ reason: z.string() })),
    bytes: z.int(),
    /** The names of servers that could not be reached. */
    away: z.array(z.string()),
  })

export const cleanUpRun = component('CleanUpRun', () =>
  outcome().extend({
    by: z.string(),
    startedAt: time,
    finishedAt: time.nullable(),
    complete: z.boolean(),
  }),
)

export const cleanUpPreview = component('CleanUpPreview', () =>
  outcome().extend({
    candidates: z.array(judged().extend({ byDefault: z.boolean() })),
    kept: z.array(judged()),
  }),
)

export const cleanUpSchedule = componentOf('CleanUpSchedule', () => ({
  enabled: z.boolean(),
  what: z.array(z.enum(scheduledKinds)),
  hour: z.int(),
  threshold: z.int(),
  lastRunAt: time.nullable(),
  lastOutcome: z.string().nullable(),
}))

/** In bytes, as all here. */
export const engineShare = () =>
  z.object({ images: z.int(), containers: z.int(), volumes: z.int(), buildCache: z.int() })

export const diskShare = () => engineShare().extend({ logs: z.int(), database: z.int() })

/** Of a user's apps and services; the images without layers that others share. */
export const ownerShare = () =>
  z.object({ email: z.string(), containers: z.int(), volumes: z.int(), images: z.int() })

export const buildLimit = () =>
  z.object({
    memory: z.int(),
    cpus: z.number(),
    /** Bytes that must be free for a build to start; null when the disk is on another machine. */
    free: z.int().nullable(),
    /** Why the engine doesn't limit the memory and processors of builds; null when it does. */
    uncapped: z.string().nullable(),
  })

const space = () => z.object({ size: z.int(), free: z.int(), usedPercent: z.int() }).nullable()

export const diskOverview = componentOf('DiskOverview', () => ({
  use: diskShare(),
  /** An earlier one while Docker still measures. */
  measuredAt: time,
  /** Largest first. */
  owners: z.array(ownerShare()),
  space: space(),
  /** The same of each other server; `use` is null until it was measured, and while one is away. */
  servers: z.array(
    z.object({ id, name: z.string(), use: engineShare().nullable(), space: space() }),
  ),
  builds: buildLimit(),
  schedule: cleanUpSchedule(),
  latest: cleanUpRun().nullable(),
}))

const thingJson = ({ kind, id, name, bytes, server }: Thing) => ({
  ...{ kind: singular[kind], id, name, bytes },
  serverId: server?.id ?? firstServer,
})

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
    away: [],
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
  away: outcome.away,
  by,
  startedAt,
  finishedAt,
  complete: finishedAt !== null && error === null,
})

const spaceJson = (space: DiskSpace | null) =>
  space && { size: space.size, free: space.free, usedPercent: space.used }

export const diskJson = ({ shares, space, others }: Disks) => ({
  use: shares,
  space: spaceJson(space),
  servers: others.map(({ id, name, use, space }) => ({ id, name, use, space: spaceJson(space) })),
})

type Disks = { shares: DiskShares; space: DiskSpace | null; others: OtherDisk[] }

export const operations: SliceOperations = () => ({
  Administration: {
    'GET /settings/prune': does('Get what uses the disk', diskOverview()),
    'POST /settings/prune': {
      summary: 'Clean up Docker, or with dryRun list what would be removed',
      answers: { 200: z.union([cleanUpRun(), cleanUpPreview()]), 202: cleanUpRun() },
    },
    'GET /settings/prune/result': does(
      'Get the last clean-up, or nothing before the first',
      z.union([cleanUpRun(), nothing]),
    ),
    'PUT /settings/prune/schedule': does('Schedule the daily clean-up', cleanUpSchedule()),
  },
})
