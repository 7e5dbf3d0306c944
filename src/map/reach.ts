import type { MapEdge, MapGraph, MapNode } from './graph.ts'

/** `dependents` stop working without the node; `needs` are what it depends on. */
export type Reach = { node: MapNode; dependents: MapNode[]; needs: MapNode[] }

/** Follows dependencies over any number of steps. The results are in the graph's order. */
export function reachOf({ nodes, edges }: MapGraph, node: MapNode): Reach {
  const dependents = closure(node.id, edges, ({ from, to }) => [to, from])
  const needs = closure(node.id, edges, ({ from, to }) => [from, to])
  return {
    node,
    dependents: nodes.filter(({ id }) => dependents.has(id)),
    needs: nodes.filter(({ id }) => needs.has(id)),
  }
}

/** The ids reachable from `start`, without `start` itself. */
function closure(start: string, edges: MapEdge[], step: (edge: MapEdge) => [string, string]) {
  const next = Map.groupBy(edges.map(step), ([from]) => from)
  const found = new Set<string>()
  const waiting = [start]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
    for (const [, to] of next.get(id) ?? [])
      if (to !== start && !found.has(to)) {
        found.add(to)
        waiting.push(to)
      }
  return found
}
