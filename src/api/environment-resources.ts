import { z } from 'zod'
import { instanceStates } from '../apps/live.ts'
import { appProtocols, httpsKinds } from '../addresses/store.ts'
import { certificateStatuses } from '../domains/store.ts'
import { runStatuses } from '../runs/store.ts'
import { serviceStatuses } from '../services/store.ts'

/* Environment resources; see resources.ts. */

const id = z.uuid()
const time = z.iso.datetime()

/** A list of words, or one line that is split like in a POSIX shell. */
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
  drainSeconds: z.int(),
  healthPath: z.string().nullable(),
  healthHost: z.string().nullable(),
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
      stopSeconds: z.int().optional(),
      init: z.boolean().optional(),
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

export const domain = z.object({
  id,
  environmentId: id.nullable(),
  serviceId: id.nullable(),
  host: z.string(),
  path: z.string(),
  url: z.url(),
  /** The component of a service and its port; null until the image is known. */
  target: z.string().nullable(),
  /** The protocol between edge and app: h2c is HTTP/2 without TLS. */
  protocol: z.enum(appProtocols),
  redirectTo: z.url().nullable(),
  https: z.enum(httpsKinds),
  hsts: z.boolean(),
  /** The addresses that its name should resolve to, and does; `ok` is null when unknown. */
  dns: z.object({
    expected: z.array(z.string()),
    found: z.array(z.string()),
    ok: z.boolean().nullable(),
    checkedAt: time.nullable(),
  }),
  certificate: z
    .object({
      issuer: z.string().nullable(),
      notAfter: time.nullable(),
      status: z.enum(certificateStatuses),
      error: z.object({ message: z.string(), hint: z.string().nullable() }).nullable(),
      /** The next request after a failure. */
      nextTryAt: time.nullable(),
    })
    .nullable(),
  /** Without passwords. */
  basicAuth: z.array(z.object({ username: z.string() })),
  allowIps: z.array(z.string()),
  headers: z.record(z.string(), z.string()),
  maxBody: z.int().nullable(),
  maintenance: z.boolean(),
  /** The reason why it isn't served correctly. */
  error: z.object({ code: z.string(), message: z.string(), hint: z.string() }).nullable(),
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
