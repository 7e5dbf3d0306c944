import { z } from 'zod'

/** Without seeing another user's; a project is null for services and their domains. */
const node = z.object({
  /** Of the domain, the environment or the service. */
  id: z.string(),
  kind: z.enum(['domain', 'app', 'service']),
  name: z.string(),
  project: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  note: z.string().nullable(),
  href: z.string(),
  /** As the page shows it, in snake case: running, unhealthy, not_deployed. */
  state: z.string(),
  /** Of an app. */
  processes: z.array(
    z.object({ name: z.string(), running: z.int(), wanted: z.int(), state: z.string() }),
  ),
  /** Over the last minutes; null where requests aren't counted. */
  requestsPerMinute: z.number().nullable(),
  /** Of those, the ones that had a status of 5xx, from 0 to 1. */
  errorShare: z.number().nullable(),
})

export const map = z.object({
  nodes: z.array(node),
  /** By ids: `from` needs `to`. */
  edges: z.array(z.object({ from: z.string(), to: z.string() })),
  /** Where a node is asked for: what stops working with it, and what it needs. */
  focus: z
    .object({ id: z.string(), dependents: z.array(z.string()), needs: z.array(z.string()) })
    .nullable(),
})
