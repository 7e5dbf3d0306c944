import { z } from 'zod'
import { scheduledKinds } from '../containers/clean-up/forms.ts'
import { certificateStatuses } from '../domains/store.ts'
import { listOf } from '../web/operation.ts'
import { user } from './resources.ts'

/*
 * Resources for admins, across all users.
 */

const id = z.uuid()
const time = z.iso.datetime()

export const governedUser = user.extend({
  disabledAt: time.nullable(),
  deleting: z.boolean(),
})

/** Counts what each user owns; `registration` is who may register. */
export const userList = listOf(
  governedUser.extend({ projects: z.int(), services: z.int() }),
).extend({ registration: z.enum(['closed', 'invite', 'open']) })

/** The projects and services of a deleted user. `heir` is the new owner; null if they were deleted, too. */
export const userRemoval = z.object({
  projects: z.array(z.string()),
  services: z.array(z.string()),
  heir: z.object({ id, email: z.string() }).nullable(),
})

/** A queued or running job; `id` is that of its deployment, environment, run or service. */
export const activity = z.object({
  kind: z.enum(['deployment', 'environment', 'run', 'service', 'clean-up']),
  id: id.nullable(),
  name: z.string(),
  status: z.string(),
  owner: z.object({ id: id.nullable(), email: z.string() }),
  since: time,
})

/** The host access of a service. It lapses when no admin allows it any more; `allowedBy` is then null. */
export const grant = z.object({
  service: z.object({ id, name: z.string() }),
  owner: z.object({ id, email: z.string() }),
  allowed: z.array(z.string()),
  allowedBy: z.object({ id, email: z.string() }).nullable(),
})

const failure = z.object({ code: z.string(), message: z.string(), hint: z.string() })

/** `leftOut` lists hosts and ports that the edge rejected, although it serves the others. */
export const edge = z.object({
  setting: z.enum(['auto', 'caddy', 'external', 'direct']),
  mode: z.enum(['caddy', 'external', 'direct']),
  ports: z.object({ http: z.int(), https: z.int() }),
  domain: z.string().nullable(),
  /** The host of Davit's own pages. */
  davit: z.string().nullable(),
  caddy: z.object({ version: z.string().nullable(), loadedAt: time.nullable() }).nullable(),
  trouble: failure.nullable(),
  leftOut: z.array(failure.extend({ host: z.string().nullable(), port: z.int().nullable() })),
  /** The addresses that names should resolve to, as far as known. */
  publicAddresses: z.array(z.string()),
  /** Hosts with a DNS or certificate problem. */
  troubled: z.array(
    z.object({
      host: z.string(),
      status: z.enum(certificateStatuses),
      error: z.object({ message: z.string(), hint: z.string().nullable() }),
      nextTryAt: time.nullable(),
    }),
  ),
})

const thing = z.object({
  kind: z.enum(['container', 'image', 'network', 'volume', 'build_cache']),
  id: z.string(),
  name: z.string(),
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

/** The progress of a running clean-up. */
export const cleanUpRun = outcome.extend({
  by: z.string(),
  startedAt: time,
  finishedAt: time.nullable(),
  complete: z.boolean(),
})

/** The result of a dry run. */
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
  /** The disk usage of each user's apps and services, largest first. */
  owners: z.array(
    z.object({ email: z.string(), containers: z.int(), volumes: z.int(), images: z.int() }),
  ),
  space: z.object({ size: z.int(), free: z.int(), usedPercent: z.int() }).nullable(),
  /** The limits of a build, the free bytes that it needs, and the reason if limits aren't enforced. */
  builds: z.object({
    memory: z.int(),
    cpus: z.number(),
    free: z.int().nullable(),
    uncapped: z.string().nullable(),
  }),
  schedule: cleanUpSchedule,
  latest: cleanUpRun.nullable(),
})
