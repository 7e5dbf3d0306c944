import { z } from 'zod'
import { deploymentStatuses } from '../deployments/store.ts'

const id = z.uuid()
const time = z.iso.datetime()

export const deployment = z.object({
  id,
  projectId: id,
  environmentId: id,
  number: z.int(),
  status: z.enum(deploymentStatuses),
  trigger: z.enum(['manual', 'webhook', 'rollback', 'api']),
  triggeredBy: z.string(),
  rollbackOf: id.nullable(),
  imageOf: id.nullable(),
  repositoryUrl: z.string(),
  branch: z.string().nullable(),
  commit: z.object({
    hash: z.string().nullable(),
    author: z.string().nullable(),
    message: z.string().nullable(),
  }),
  noCache: z.boolean(),
  image: z.string().nullable(),
  containerId: z.string().nullable(),
  url: z.url().nullable(),
  steps: z.array(z.object({ name: z.string(), startedAt: time, finishedAt: time.nullable() })),
  error: z
    .object({
      step: z.string().nullable(),
      code: z.string(),
      message: z.string(),
      hint: z.string().nullable(),
    })
    .nullable(),
  downtimeMs: z.int().nullable(),
  createdAt: time,
  finishedAt: time.nullable(),
})

/** A value is null when it is unknown or secret. */
const changes = z
  .array(
    z.object({
      key: z.string(),
      change: z.enum(['added', 'removed', 'changed']),
      secret: z.boolean(),
      from: z.string().nullable(),
      to: z.string().nullable(),
    }),
  )
  .nullable()

const commit = z.object({
  hash: z.string().nullable(),
  message: z.string().nullable(),
  author: z.string().nullable(),
})

/** Compares the live deployment with another one. */
const versions = z.object({
  deploymentId: id,
  isLive: z.boolean(),
  commit: z.object({ from: commit.nullable(), to: commit }),
  /** Deployments in between that were live. */
  between: z.object({
    direction: z.enum(['back', 'forward', 'same']),
    count: z.int(),
    items: z.array(commit.extend({ deploymentId: id, number: z.int() })),
  }),
  image: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
})

const settingChanges = z
  .array(z.object({ name: z.string(), from: z.unknown(), to: z.unknown() }))
  .nullable()

/** How a deployment differs from the live one of its environment; null when unknown. */
export const comparison = versions.extend({
  liveId: id.nullable(),
  variables: changes,
  settings: settingChanges,
})

export const rollbackPreview = versions.extend({
  refused: z.string().nullable(),
  variables: z.object({
    today: z.object({ refused: z.null(), changes }),
    release: z.object({ refused: z.string().nullable(), changes }),
  }),
  settings: settingChanges,
  releaseCommand: z.string().nullable(),
  interruption: z.enum(['volume', 'port']).nullable(),
})
