import { z } from 'zod'
import { does } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import type { Look } from '../web/status-badge.tsx'
import type { MapGraph, MapNode } from './graph.ts'
import type { Reach } from './part.ts'

/** Only the user's own; `project` is null for services and their domains. */
const node = () =>
  z.object({
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

export const map = () =>
  z.object({
    nodes: z.array(node()),
    /** By id: `from` needs `to`. */
    edges: z.array(z.object({ from: z.string(), to: z.string() })),
    /** For the node in the query: what stops working without it, and what it needs. */
    focus: z
      .object({ id: z.string(), dependents: z.array(z.string()), needs: z.array(z.string()) })
      .nullable(),
  })

/** `project` limits it to its nodes and the services they use; `reach` adds dependents and needs. */
export function mapJson(
  { nodes, edges }: MapGraph,
  { project, reach }: { project: { id: string } | null; reach: Reach | null },
) {
  const own = new Set(
    nodes.flatMap((node) => (!project || node.project?.id === project.id ? [node.id] : [])),
  )
  const shownEdges = edges.filter(({ from }) => own.has(from))
  const shown = new Set([...own, ...shownEdges.map(({ to }) => to)])
  return {
    nodes: nodes.filter(({ id }) => shown.has(id)).map(nodeJson),
    edges: shownEdges,
    focus: reach && {
      id: reach.node.id,
      dependents: reach.dependents.map(({ id }) => id),
      needs: reach.needs.map(({ id }) => id),
    },
  }
}

const nodeJson = ({ id, kind, name, project, look, note, href, processes, traffic }: MapNode) => ({
  ...{ id, kind, name, project, note, href },
  state: stateOf(look),
  processes: processes.map(({ look, ...process }) => ({ ...process, state: stateOf(look) })),
  requestsPerMinute: traffic?.perMinute ?? null,
  errorShare: traffic?.errorShare ?? null,
})

const stateOf = ({ word }: Look) => word.toLowerCase().replaceAll(/[^a-z]+/g, '_')

export const operations: SliceOperations = () => ({
  Projects: {
    'GET /map': does(
      'Get what is connected: domains, apps and services, and what each of them needs',
      map(),
    ),
  },
})
