import { z } from 'zod'

/** Only the user's own; `project` is null for services and their domains. */
const node = z.object({
  /** The id of the domain, environment or service. */
  id: z.string(),
  kind: z.enum(['domain', 'app', 'service']),
  name: z.string(),
  project: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  note: z.string().nullable(),
  href: z.string(),
  /** The state on the page in snake case: running, unhealthy, not_deployed. */
  state: z.string(),
  /** Empty for all but apps. */
  processes: z.array(
    z.object({ name: z.string(), running: z.int(), wanted: z.int(), state: z.string() }),
  ),
  /** Average of the last minutes; null where requests aren't counted. */
  requestsPerMinute: z.number().nullable(),
  /** The share of responses with a status of 5xx, from 0 to 1. */
  errorShare: z.number().nullable(),
})

export const map = z.object({
  nodes: z.array(node),
  /** By id: `from` needs `to`. */
  edges: z.array(z.object({ from: z.string(), to: z.string() })),
  /** For the node in the query: what stops working without it, and what it needs. */
  focus: z
    .object({ id: z.string(), dependents: z.array(z.string()), needs: z.array(z.string()) })
    .nullable(),
})
