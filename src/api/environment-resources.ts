import { z } from 'zod'
import { instanceStates } from '../apps/live.ts'
import { runStatuses } from '../runs/store.ts'
import { serviceStatuses } from '../services/store.ts'

/* What programs get of environments; see resources.ts. */

const id = z.uuid()
const time = z.iso.datetime()

/** Words, or a line that is split as a POSIX shell splits words. */
const command = z.union([z.string(), z.array(z.string())])

export const link = z.object({
  id,
  environmentId: id,
  service: z.object({
    id,
    name: z.string(),
    template: z.string(),
    status: z.enum(serviceStatuses),
  }),
  host: z.string(),
  variables: z.array(
    z.object({ key: z.string(), provides: z.string(), value: z.string().nullable() }),
  ),
  /** What is left to do before the app reaches the service. */
  note: z.string().optional(),
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
  processes: z.array(
    z.object({
      name: z.string(),
      command: command.nullable(),
      replicas: z.int(),
      memoryMb: z.int().nullable(),
      cpus: z.number().nullable(),
    }),
  ),
  releaseCommand: command.nullable(),
  releaseTimeout: z.int(),
  links: z.array(link),
  pendingChanges: z.array(z.string()),
  live: z
    .object({
      deploymentId: id,
      instances: z.array(
        z.object({
          process: z.string(),
          containerId: z.string().nullable(),
          state: z.enum(instanceStates),
          address: z.string().nullable(),
        }),
      ),
    })
    .nullable(),
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

export const run = z.object({
  id,
  environmentId: id,
  command,
  status: z.enum(runStatuses),
  exitCode: z.int().nullable(),
  error: z
    .object({ code: z.string(), message: z.string(), hint: z.string().nullable() })
    .nullable(),
  createdAt: time,
  finishedAt: time.nullable(),
})
