import type { Look } from '../web/status-badge.tsx'
import type { MapGraph, MapNode } from './graph.ts'
import type { Reach } from './reach.ts'

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
  processes: processes.map((process) => ({
    name: process.name,
    running: process.running,
    wanted: process.wanted,
    state: stateOf(process.look),
  })),
  requestsPerMinute: traffic?.perMinute ?? null,
  errorShare: traffic?.errorShare ?? null,
})

const stateOf = ({ word }: Look) => word.toLowerCase().replaceAll(/[^a-z]+/g, '_')
