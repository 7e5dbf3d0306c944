import type { MapEdge, MapGraph, MapNode } from './graph.ts'

/** An app or service with its addresses, of which only the first ones may be drawn. */
export type Holder = { node: MapNode; domains: MapNode[]; hidden: number }

export type Group = { project: { id: string; name: string }; apps: Holder[] }

export type Part = ReturnType<typeof partOf>

/** Limits for one page: nodes, apps of one project side by side, and addresses of each. */
const mostNodes = 56
const mostApps = 20
const mostDomains = { of: 5, alone: 50 }

/**
 * Projects with the services that they use come first, then services that no app uses. Within both,
 * dependents and dependencies of the chosen node precede nodes with a problem, then the rest by name.
 */
export function partOf(
  { nodes, edges }: MapGraph,
  { projectId, reach, from = 0 }: { projectId?: string; reach?: Reach | null; from?: number },
) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const isTouched = new Set(
    reach ? [reach.node, ...reach.dependents, ...reach.needs].map(({ id }) => id) : [],
  )
  const rank = (own: MapNode[]) =>
    own.some(({ id }) => isTouched.has(id)) ? 0 : own.some(isTroubled) ? 1 : 2
  const between = (kind: MapNode['kind']) =>
    edges.flatMap(({ from, to }) => {
      const [user, used] = [byId.get(from)!, byId.get(to)!]
      return user.kind === kind ? [{ user, used }] : []
    })
  const links = between('app')
  const uses = grouped(
    links,
    ({ user }) => user.id,
    ({ used }) => used,
  )
  const users = grouped(
    links,
    ({ used }) => used.id,
    ({ user }) => user,
  )
  const domainsOf = Map.groupBy(
    nodes.filter(({ kind }) => kind === 'domain'),
    ({ holder }) => holder!,
  )
  const holder = (node: MapNode): Holder => {
    const all = domainsOf.get(node.id) ?? []
    const most = projectId ? mostDomains.alone : mostDomains.of
    const domains = all.toSorted((a, b) => rank([a]) - rank([b])).slice(0, most)
    return { node, domains, hidden: all.length - domains.length }
  }
  const apps = nodes.filter(({ kind }) => kind === 'app').map(holder)
  const groups = [...Map.groupBy(apps, ({ node }) => node.project!.id).values()].flatMap((own) =>
    chunks(own, mostApps).map((some) => ({ project: own[0]!.node.project!, apps: some })),
  )
  const unused = nodes.filter(({ kind, id }) => kind === 'service' && !users.has(id)).map(holder)

  const blocks = projectId
    ? groups.filter(({ project }) => project.id === projectId).map(ofGroup)
    : [...groups.map(ofGroup), ...unused.map(ofService)].toSorted(
        (a, b) => a.rank - b.rank || a.last - b.last || collator.compare(a.name, b.name),
      )
  const { end, shown } = cut(blocks, from)
  const shownGroups = shown.flatMap(({ group }) => group ?? [])
  const used = new Set(
    shownGroups.flatMap(({ apps }) => apps.flatMap(({ node }) => uses.get(node.id) ?? [])),
  )
  const services = [...[...used].map(holder), ...shown.flatMap(({ service }) => service ?? [])]
  const visible = new Set(
    [...shownGroups.flatMap(({ apps }) => apps), ...services].flatMap(({ node, domains }) => [
      node.id,
      ...domains.map(({ id }) => id),
    ]),
  )
  return {
    groups: shownGroups,
    services,
    edges: edges.filter(({ from, to }) => visible.has(from) && visible.has(to)),
    /** The start of the next page; null for the last. */
    next: end < blocks.length ? end : null,
    /** The environments that use each service, on this page or not. */
    users,
    uses,
  }

  function ofGroup(group: Group) {
    const own = group.apps.flatMap(({ node, domains }) => [
      ...[node, ...domains],
      ...(uses.get(node.id) ?? []),
    ])
    return { rank: rank(own), last: 0, name: group.project.name, size: own.length, group }
  }

  function ofService(service: Holder) {
    const own = [service.node, ...service.domains]
    return { rank: rank(own), last: 1, name: service.node.name, size: own.length, service }
  }
}

type Block = { rank: number; last: number; name: string; size: number } & {
  group?: Group
  service?: Holder
}

/** As many blocks as fit on a page, but at least one. */
function cut(blocks: Block[], from: number) {
  let [end, room] = [from, mostNodes]
  while (end < blocks.length && (end === from || blocks[end]!.size <= room))
    room -= blocks[end++]!.size
  return { end, shown: blocks.slice(from, end) }
}

function chunks<Item>(items: Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size))
}

export const isTroubled = ({ look }: MapNode) => look.tone === 'bad'

function grouped<Item, Value>(
  items: Item[],
  key: (item: Item) => string,
  value: (item: Item) => Value,
) {
  const groups = Map.groupBy(items, key)
  return new Map([...groups].map(([name, own]) => [name, own.map(value)] as const))
}

const collator = new Intl.Collator('en', { numeric: true })

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
