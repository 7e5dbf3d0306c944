import { z } from 'zod'
import { pruneForm, scheduledKinds, scheduleForm } from '../containers/clean-up/forms.ts'
import { operationsOf } from './operation.ts'

const time = z.iso.datetime()

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
export const pruneResult = outcome.extend({
  by: z.string(),
  startedAt: time,
  finishedAt: time.nullable(),
  complete: z.boolean(),
})

/** What a dry run finds. */
export const prunePreview = outcome.extend({
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
  latest: pruneResult.nullable(),
})

export function cleanUps() {
  const { get, post, put } = operationsOf('Clean-up')
  return [
    get('/settings/prune', 'Look at what takes the disk, for admins', { answer: diskOverview }),
    post('/settings/prune', 'Clean up the engine, or only look with dryRun, for admins', {
      body: pruneForm,
      answer: z.union([pruneResult, prunePreview]),
    }),
    get('/settings/prune/result', 'Look at what the last clean-up came to, for admins', {
      answer: pruneResult,
    }),
    put('/settings/prune/schedule', 'Set the clean-up of every day, for admins', {
      body: scheduleForm,
      answer: cleanUpSchedule,
    }),
  ]
}
