import { z } from 'zod'
import { scheduledKinds } from '../containers/clean-up/forms.ts'
import { listOf, user } from './resources.ts'

/*
 * What admins get of all users.
 */

const id = z.uuid()
const time = z.iso.datetime()

export const governedUser = user.extend({
  disabledAt: time.nullable(),
  deleting: z.boolean(),
})

/** With how much each of them has, and who may register. */
export const userList = listOf(
  governedUser.extend({ projects: z.int(), services: z.int() }),
).extend({ registration: z.enum(['closed', 'invite', 'open']) })

export const invite = z.object({ id, createdAt: time, expiresAt: time })

/** What a deleted user had, by name, and who has it now; null where it was deleted, too. */
export const userRemoval = z.object({
  projects: z.array(z.string()),
  services: z.array(z.string()),
  heir: z.object({ id, email: z.string() }).nullable(),
})

/** What waits or is at work; `id` is that of the deployment, environment, run or service. */
export const activity = z.object({
  kind: z.enum(['deployment', 'environment', 'run', 'service', 'clean-up']),
  id: id.nullable(),
  name: z.string(),
  status: z.string(),
  owner: z.object({ id: id.nullable(), email: z.string() }),
  since: time,
})

/** What a service may do to the host; nobody allows it any more where it has lapsed. */
export const grant = z.object({
  service: z.object({ id, name: z.string() }),
  owner: z.object({ id, email: z.string() }),
  allowed: z.array(z.string()),
  allowedBy: z.object({ id, email: z.string() }).nullable(),
})

const thing = z.object({
  kind: z.enum(['container', 'image', 'network', 'volume', 'build_cache']),
  id: z.string(),
  name: z.string(),
  /** Null where the engine can't tell. */
  bytes: z.int().nullable(),
})

const judged = thing.extend({
  item: z.string(),
  owner: z.enum(['davit', 'builder', 'other']),
  reason: z.string(),
})

const outcome = z.object({
  dryRun: z.boolean(),
  removed: z.array(thing),
  skipped: z.array(thing.extend({ reason: z.string() })),
  bytes: z.int(),
})

/** What a clean-up that has begun came to by now. */
export const cleanUpRun = outcome.extend({
  by: z.string(),
  startedAt: time,
  finishedAt: time.nullable(),
  complete: z.boolean(),
})

/** What a dry run finds. */
export const cleanUpPreview = outcome.extend({
  candidates: z.array(judged.extend({ byDefault: z.boolean() })),
  kept: z.array(judged),
})

export const cleanUpSchedule = z.object({
  enabled: z.boolean(),
  what: z.array(z.enum(scheduledKinds)),
  hour: z.int(),
  threshold: z.int(),
  lastRunAt: time.nullable(),
  lastOutcome: z.string().nullable(),
})

export const diskOverview = z.object({
  use: z.object({
    images: z.int(),
    containers: z.int(),
    volumes: z.int(),
    buildCache: z.int(),
    logs: z.int(),
    database: z.int(),
  }),
  space: z.object({ size: z.int(), free: z.int(), usedPercent: z.int() }).nullable(),
  /** What one build may use, what must be free for it to begin, and why it is not held to that. */
  builds: z.object({
    memory: z.int(),
    cpus: z.number(),
    free: z.int().nullable(),
    uncapped: z.string().nullable(),
  }),
  schedule: cleanUpSchedule,
  latest: cleanUpRun.nullable(),
})
