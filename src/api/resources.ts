import { z } from 'zod'
import { listOf } from '../web/operation.ts'
import { kinds } from '../palette/items.ts'

/*
 * The resources of the API as schemas. The document is generated from
 * them, and tests validate responses with them.
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
  gitDirectory: z.boolean(),
  autoDeploy: z.boolean(),
  watchPaths: z.array(z.string()),
  keepImages: z.int(),
  deployKey: z.string().nullable(),
  webhookOutdated: z.boolean(),
  deleting: z.boolean(),
  createdAt: time,
})

export const watchedFiles = z.object({
  /** Null when no commit has been deployed. */
  commit: z.string().nullable(),
  items: z.array(
    z.object({
      pattern: z.string(),
      /** The reason why it can't be saved; null otherwise. */
      refusal: z.string().nullable(),
      count: z.int().nullable(),
      /** The first of the files. */
      files: z.array(z.string()),
    }),
  ),
})

export const webhook = z.object({
  provider: z.enum(['github', 'gitlab', 'gitea']).nullable(),
  url: z.url().nullable(),
  registered: z.boolean(),
  own: z.boolean(),
})

export const logLine = z.object({
  seq: z.int(),
  time,
  stream: z.enum(['system', 'stdout', 'stderr']),
  text: z.string(),
})

/** A line of a container's output, with its source. */
export const outputLine = logLine.extend({
  deploymentId: id.nullable(),
  container: z.string(),
  /** Null in lines stored by an earlier version. */
  process: z.string().nullable(),
  /** Counted from 1; null if the process has a single container. */
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
  /** `field` is empty when the body as a whole is invalid. */
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
})

/** Lines of a deployment or job; a search has the total number of hits. */
export const jobLog = listOf(logLine).extend({ found: z.int().optional() })

/** Lines of containers, with the first and last stored one, the time of the first, and the processes. */
export const output = listOf(outputLine).extend({
  first: z.int(),
  last: z.int(),
  since: time.nullable(),
  processes: z.array(z.object({ process: z.string(), replicas: z.int() })),
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

export const repository = z.object({
  fullName: z.string(),
  cloneUrl: z.string(),
  defaultBranch: z.string().nullable(),
  private: z.boolean(),
})

export const ref = z.object({ name: z.string(), commit: z.string() })

/** Present when the provider's list is incomplete because it took too long. */
const truncated = z.literal(true).optional()

export const repositoryList = listOf(repository).extend({ truncated })

export const refList = listOf(ref).extend({ truncated })

export const branchList = refList.extend({ defaultBranch: z.string().nullable() })

export const lookedAt = z.object({
  defaultBranch: z.string().nullable(),
  branches: z.array(z.string()),
  dockerfiles: z.array(z.string()).nullable(),
})

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

/** With the URLs that providers send webhooks to. */
export const deliveryList = listOf(delivery).extend({
  receivers: z.array(z.object({ provider: delivery.shape.provider, url: z.url() })),
})

export const health = z.object({ status: z.string() })

/** While `disk` is `full`, Davit is read-only. */
export const readiness = health.extend({ disk: z.literal('full').optional() })

/** `heading` is the matching section; null for the document as a whole. */
export const docs = listOf(
  z.object({
    name: z.string(),
    title: z.string(),
    heading: z.string().nullable(),
    excerpt: z.string(),
    url: z.string(),
  }),
)

/** A page to get, or an action: a POST with these fields. */
export const found = listOf(
  z.object({
    kind: z.enum(kinds),
    name: z.string(),
    detail: z.string(),
    url: z.string(),
    method: z.enum(['GET', 'POST']),
    fields: z.record(z.string(), z.string()),
  }),
)

export const document = z.object({
  name: z.string(),
  title: z.string(),
  url: z.string(),
  headings: z.array(z.object({ id: z.string(), level: z.int(), title: z.string() })),
  text: z.string(),
})
