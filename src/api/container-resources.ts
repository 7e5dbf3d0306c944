import { z } from 'zod'

/* Container resources; see resources.ts. */

const id = z.uuid()
const time = z.iso.datetime()

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
  process: z.string().nullable(),
  replica: z.int().nullable(),
  deployment: id.nullable(),
  service: id.nullable(),
  own: z.boolean(),
  restartCount: z.int().nullable(),
  exitCode: z.int().nullable(),
  oomKilled: z.boolean().nullable(),
  crashLooping: z.boolean(),
})

export const containerList = z.object({ containers: z.array(container) })

export const containerDetails = container.extend({
  imageId: z.string(),
  error: z.string().nullable(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  command: z.array(z.string()).nullable().describe('Null for a token without the scope write.'),
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
  labels: z
    .record(z.string(), z.string())
    .nullable()
    .describe('Null for a token without the scope write.'),
  stopReason: z.string().nullable(),
})

export const terminal = z.object({ id: z.string(), name: z.string() })

/** A log line of a container. Its id is the engine's timestamp, with `/` and a number if several share it. */
export const containerLine = z.object({
  /** The sequence number, for requests of lines after or before it. */
  seq: z.number(),
  time: z.string(),
  stream: z.enum(['system', 'stdout', 'stderr']),
  text: z.string(),
  id: z.string(),
})

/** Bytes since the container started, or bytes per second. */
const transfers = {
  received: z.number(),
  sent: z.number(),
  read: z.number(),
  written: z.number(),
}

/** `cpu` is in per cent of one processor: two busy ones make 200. Usage is only present while it runs. */
export const containerUsage = z.object({
  state: z.enum(['running', 'stopped', 'restarting', 'removed', 'unknown']),
  time,
  cpu: z.number().optional(),
  memory: z.number().optional(),
  memoryLimit: z.number().optional(),
  ...z.object(transfers).partial().shape,
  rates: z.object(transfers).optional(),
  pids: z.int().optional(),
})

const sample = z.object({
  time,
  cpu: z.number(),
  memory: z.number(),
  ...transfers,
  pids: z.number(),
})

/** Measurements, averaged over `span` seconds up to each time. */
export const containerHistory = z.object({
  range: z.enum(['hour', 'day', 'week']),
  span: z.int(),
  samples: z.array(sample),
  now: containerUsage.nullable(),
})

const use = z.object({
  now: z
    .object({ containers: z.int(), cpu: z.number(), memory: z.number(), memoryLimit: z.number() })
    .nullable(),
  samples: z.array(sample),
})

/** The same for the containers of each process, and for all together. */
export const workloadUsage = z.object({
  range: z.enum(['hour', 'day', 'week']),
  span: z.int(),
  processes: z.array(use.extend({ process: z.string() })),
  total: use,
})
