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

export const environment = z.object({
  id,
  projectId: id,
  name: z.string(),
  branch: z.string().nullable(),
  port: z.int().nullable(),
  hostPort: z.int().nullable(),
  domains: z.array(z.string()),
  url: z.url().nullable(),
  healthPath: z.string().nullable(),
  healthTimeout: z.int(),
  memoryMb: z.int(),
  cpus: z.number(),
  autoDeploy: z.boolean().nullable(),
  volumes: z.array(z.string()),
  deleting: z.boolean(),
  createdAt: time,
})

export const variable = z.object({
  id,
  key: z.string(),
  value: z.string().nullable(),
  secret: z.boolean(),
  buildTime: z.boolean(),
})

export const deployment = z.object({
  id,
  projectId: id,
  environmentId: id,
  status: z.enum(deploymentStatuses),
  trigger: z.enum(['manual', 'webhook', 'rollback', 'api']),
  triggeredBy: z.string(),
  rollbackOf: id.nullable(),
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
})

/** A line of a container; its id is its number where it is kept, else the engine's timestamp, to the nanosecond. */
export const containerLine = z.object({
  time: z.string(),
  stream: z.enum(['system', 'stdout', 'stderr']),
  text: z.string(),
  id: z.string(),
})

/** Sequences of the first and last line that are kept, and since when. */
export const outputExtent = { first: z.int(), last: z.int(), since: time.nullable() }

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
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
})

/** A page of a list; the cursor asks for the next one. */
export const listOf = (item: z.ZodType) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })

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

/** A list that the provider gave, cut when it took too long. */
export const lookupOf = (item: z.ZodType) => listOf(item).extend({ truncated: z.boolean() })

export const repository = z.object({
  fullName: z.string(),
  cloneUrl: z.string(),
  defaultBranch: z.string().nullable(),
  private: z.boolean(),
})

export const ref = z.object({ name: z.string(), commit: z.string() })

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

export const container = z.object({
  id: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string(),
  image: z.string(),
  state: z.enum(['created', 'running', 'restarting', 'exited', 'paused', 'dead', 'removing']),
  status: z.string(),
  health: z.enum(['starting', 'healthy', 'unhealthy']).nullable(),
  createdAt: time,
  ports: z.array(z.object({ host: z.int(), container: z.int(), protocol: z.string() })),
  project: id.nullable(),
  environment: id.nullable(),
  deployment: id.nullable(),
  service: id.nullable(),
  own: z.boolean(),
  restartCount: z.int().nullable(),
  exitCode: z.int().nullable(),
  oomKilled: z.boolean().nullable(),
  crashLooping: z.boolean(),
})

export const containerDetails = container.extend({
  imageId: z.string(),
  error: z.string().nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  command: z.array(z.string()),
  user: z.string().nullable(),
  workingDir: z.string().nullable(),
  variables: z.array(z.object({ key: z.string(), value: z.string().nullable() })),
  mounts: z.array(
    z.object({
      type: z.string(),
      source: z.string().nullable(),
      destination: z.string(),
      readOnly: z.boolean(),
    }),
  ),
  networks: z.array(
    z.object({
      name: z.string(),
      address: z.string().nullable(),
      gateway: z.string().nullable(),
      mac: z.string().nullable(),
      aliases: z.array(z.string()),
    }),
  ),
  exposedPorts: z.array(z.object({ container: z.int(), protocol: z.string() })),
  limits: z.object({
    memoryBytes: z.int().nullable(),
    cpus: z.number().nullable(),
    pids: z.int().nullable(),
  }),
  restartPolicy: z.enum(['no', 'always', 'unless-stopped', 'on-failure']),
  privileged: z.boolean(),
  tty: z.boolean(),
  logDriver: z.string(),
  labels: z.record(z.string(), z.string()),
  stopReason: z.string().nullable(),
})
