import { z } from 'zod'
import { serviceStatuses } from '../services/store.ts'
import { container } from './container-resources.ts'
import { deployment } from './deployment-resources.ts'

/* Resources of services and the catalogue; see resources.ts. */

const id = z.uuid()
const time = z.iso.datetime()

const publishedPort = {
  service: z.string(),
  /** Null uses the first port that the image exposes, once it was pulled. */
  container: z.int().nullable(),
  protocol: z.enum(['tcp', 'udp']),
}

export const service = z.object({
  id,
  template: z.string(),
  name: z.string(),
  /** The hostname by which linked apps reach it. */
  host: z.string().nullable(),
  version: z.string().nullable(),
  status: z.enum(serviceStatuses),
  containers: z
    .array(
      container
        .omit({
          process: true,
          replica: true,
          own: true,
          restartCount: true,
          exitCode: true,
          oomKilled: true,
          crashLooping: true,
        })
        .extend({ part: z.string() }),
    )
    .nullable(),
  url: z.string().nullable(),
  ports: z.array(z.object({ ...publishedPort, host: z.int() })),
  domains: z.array(z.string()),
  error: deployment.shape.error,
  deleting: z.boolean(),
  createdAt: time,
})

export const catalogueEntry = z.object({
  template: z.string(),
  name: z.string(),
  description: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  links: z.record(z.string(), z.string()),
  version: z.string(),
})

export const serviceList = z.object({
  templates: z.array(catalogueEntry),
  instances: z.array(service),
  nextCursor: z.string().nullable(),
})

export const template = catalogueEntry.extend({
  version: z.string().nullable(),
  variables: z.array(
    z.object({
      name: z.string(),
      label: z.string(),
      description: z.string().nullable(),
      default: z.string().nullable(),
      generated: z.boolean(),
      required: z.boolean(),
      pattern: z.string().nullable(),
      secret: z.boolean(),
      options: z.array(z.string()),
    }),
  ),
  services: z.array(z.object({ name: z.string(), image: z.string() })),
  ports: z.array(z.object({ ...publishedPort, host: z.int().nullable() })),
  volumes: z.array(z.string()),
  dangers: z.array(z.object({ key: z.string(), message: z.string() })),
  notes: z.array(z.string()),
})

/** With the values of its variables; those of secrets are null. */
export const editedTemplate = template.extend({
  values: z.record(z.string(), z.string().nullable()),
})

export const connection = z.object({
  connection: z.array(z.object({ label: z.string(), value: z.string().nullable() })),
})

/** The effect of a change. */
export const difference = z.object({
  changes: z.array(
    z.object({
      field: z.string(),
      label: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      secret: z.boolean(),
    }),
  ),
  remakes: z.boolean(),
  volumes: z.array(z.string()),
})
