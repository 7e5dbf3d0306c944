import { z } from 'zod'
import { tokenScopes } from '../accounts/token-store.ts'
import { deploymentStatuses } from '../deployments/store.ts'

/*
 * What programs get, as schemas: the API document is made from them, and tests hold the answers
 * against them.
 */

const id = z.uuid()
const time = z.iso.datetime()

export const project = z.object({
  id,
  name: z.string(),
  repositoryUrl: z.string(),
  sourceId: id.nullable(),
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  dockerfilePath: z.string().nullable(),
  contextDir: z.string(),
  buildArgs: z.record(z.string(), z.string()),
  buildNetwork: z.boolean(),
  autoDeploy: z.boolean(),
  watchPaths: z.array(z.string()),
  keepImages: z.int(),
  deployKey: z.string().nullable(),
  webhookOutdated: z.boolean(),
  deleting: z.boolean(),
  createdAt: time,
})

export const webhook = z.object({
  provider: z.enum(['github', 'gitlab', 'gitea']).nullable(),
  url: z.url().nullable(),
  registered: z.boolean(),
  own: z.boolean(),
})

export const deployment = z.object({
  id,
  projectId: id,
  environmentId: id,
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

export const logLine = z.object({
  seq: z.int(),
  time,
  stream: z.enum(['system', 'stdout', 'stderr']),
  text: z.string(),
})

/** What a container wrote, with where it came from. */
export const outputLine = logLine.extend({
  deploymentId: id.nullable(),
  container: z.string(),
  /** Null in lines that an earlier version stored. */
  process: z.string().nullable(),
  /** From 1, where the process has several containers. */
  replica: z.int().nullable(),
})

export const session = z.object({
  id,
  userAgent: z.string(),
  address: z.string(),
  current: z.boolean(),
  createdAt: time,
  lastSeenAt: time,
  expiresAt: time,
})

export const user = z.object({
  id,
  email: z.email(),
  name: z.string().nullable(),
  role: z.enum(['admin', 'member']),
  createdAt: time,
})

export const removal = z.object({
  removed: z.array(z.object({ kind: z.string(), name: z.string() })),
})

export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  requestId: z.string(),
  code: z.string().optional(),
  /** The field is empty where the body as a whole is refused. */
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
})

/** A page of a list; the cursor asks for the next one. */
export const listOf = (item: z.ZodType) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })

/** Lines of a deployment or job; a search has the count of all its hits. */
export const jobLog = listOf(logLine).extend({ found: z.int().optional() })

/** Lines of containers, with the first and last that are kept, since when, and which processes wrote. */
export const output = listOf(outputLine).extend({
  first: z.int(),
  last: z.int(),
  since: time.nullable(),
  processes: z.array(z.object({ process: z.string(), replicas: z.int() })),
})

export const token = z.object({
  id,
  name: z.string(),
  scopes: z.array(z.enum(tokenScopes)),
  lastUsedAt: time.nullable(),
  expiresAt: time.nullable(),
  createdAt: time,
})

export const auditEvent = z.object({
  id,
  time,
  actor: z.object({ id: id.nullable(), email: z.string() }),
  action: z.string(),
  object: z
    .object({ kind: z.string(), id: z.string().nullable(), name: z.string().nullable() })
    .nullable(),
  address: z.string().nullable(),
  details: z.record(z.string(), z.string()),
})

export const source = z.object({
  id,
  provider: z.enum(['github', 'gitlab', 'gitea']),
  name: z.string(),
  baseUrl: z.url(),
  login: z.string(),
  createdAt: time,
})

export const registry = z.object({ id, host: z.string(), username: z.string(), createdAt: time })

/** With what the provider says of its token now. */
export const checkedSource = source.extend({
  rights: z.array(z.string()).nullable(),
  missing: z.array(z.string()),
})

export const repository = z.object({
  fullName: z.string(),
  cloneUrl: z.string(),
  defaultBranch: z.string().nullable(),
  private: z.boolean(),
})

export const ref = z.object({ name: z.string(), commit: z.string() })

/** The provider's list may be cut where it took too long. */
const truncated = z.literal(true).optional()

export const repositoryList = listOf(repository).extend({ truncated })

export const refList = listOf(ref).extend({ truncated })

export const branchList = refList.extend({ defaultBranch: z.string().nullable() })

export const delivery = z.object({
  id,
  provider: z.enum(['github', 'gitlab', 'gitea']),
  deliveryId: z.string(),
  event: z.string(),
  ref: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.object({ hash: z.string().nullable(), message: z.string().nullable() }),
  signatureOk: z.boolean(),
  decision: z.enum(['refused', 'ignored', 'deployed', 'failed']).nullable(),
  reason: z.string().nullable(),
  deploymentIds: z.array(id),
  canReplay: z.boolean(),
  createdAt: time,
})

/** With the addresses that providers post to. */
export const deliveryList = listOf(delivery).extend({
  receivers: z.array(z.object({ provider: delivery.shape.provider, url: z.url() })),
})

export const health = z.object({ status: z.string() })

/** `disk` is there while the disk is full: then Davit can only be read. */
export const readiness = health.extend({ disk: z.literal('full').optional() })
