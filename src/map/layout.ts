import type { MapNode } from './graph.ts'
import type { Group, Holder, Part } from './part.ts'

/** A node's position, in units of the drawing. */
export type Box = { node: MapNode; x: number; y: number; width: number; height: number }

export type Line = { from: Box; to: Box }

export type Layout = {
  width: number
  height: number
  /** With their boxes, in reading order. */
  bands: { group: Group; y: number; height: number; boxes: Box[] }[]
  /** The boxes of services and their addresses. */
  rest: Box[]
  lines: Line[]
}

export const width = 1120
export const columns = {
  domain: { x: 16, width: 310 },
  app: { x: 422, width: 290 },
  service: { x: 836, width: 276 },
}
/** The background of a project's apps and their addresses. */
export const band = { x: 0, width: 728 }

const top = 36
const gap = 10
const heading = 34
const rowHeight = 46
const processHeight = 20

/** Processes are listed only where an app has several. */
export const shownProcesses = ({ processes }: MapNode) => (processes.length > 1 ? processes : [])

const heightOf = (node: MapNode) => {
  const rows = shownProcesses(node).length
  return rowHeight + (rows > 0 ? rows * processHeight + 6 : 0)
}

/**
 * Places addresses beside their app or service, apps by project, and each service at the height of the
 * apps that use it, so that few lines cross. Takes linear time, apart from sorting.
 */
export function layOut({ groups, services, edges, users }: Part): Layout {
  const boxes = new Map<string, Box>()
  const place = (node: MapNode, y: number) => {
    const box = { node, ...columns[node.kind], y, height: heightOf(node) }
    boxes.set(node.id, box)
    return box.y + box.height
  }
  const bands: Layout['bands'] = []
  let [bottom, count] = [top, 0]
  for (const group of groups) {
    let y = bottom + heading
    for (const holder of group.apps) y = placeRow(holder, y) + gap
    const own = [...boxes.values()].slice(count)
    bands.push({ group, y: bottom, height: y - bottom, boxes: own })
    count = boxes.size
    bottom = y + gap
  }
  const beside = services.filter(({ domains }) => domains.length === 0)
  const below = services.filter(({ domains }) => domains.length > 0)
  const endOfServices = placeServices(beside)
  bottom = Math.max(bottom, endOfServices + gap) + (below.length > 0 ? gap : 0)
  for (const holder of below) bottom = placeRow(holder, bottom) + gap
  return {
    width,
    height: bottom,
    bands,
    rest: [...boxes.values()].slice(count),
    lines: edges.map(({ from, to }) => ({ from: boxes.get(from)!, to: boxes.get(to)! })),
  }

  /** Centers an app or service beside its addresses. */
  function placeRow({ node, domains }: Holder, y: number) {
    const stack = domains.length * (rowHeight + gap) - gap
    const height = Math.max(stack, heightOf(node))
    let next = y + (height - Math.max(stack, 0)) / 2
    for (const domain of domains) next = place(domain, next) + gap
    place(node, y + (height - heightOf(node)) / 2)
    return y + height
  }

  /** Places each service as near as possible to the middle of its users, in their order, without overlaps. */
  function placeServices(holders: Holder[]) {
    const wished = holders
      .map(({ node }) => ({ node, y: middleOf(users.get(node.id) ?? []) }))
      .toSorted((a, b) => a.y - b.y)
    const places: number[] = []
    let next = top + heading
    for (const { y } of wished) {
      places.push(Math.max(next, Math.min(y, bottom) - rowHeight / 2))
      next = places.at(-1)! + rowHeight + gap
    }
    // services below the last app move up again, as far as there is room
    let limit = Math.max(bottom - gap, top + heading + holders.length * (rowHeight + gap) - gap)
    for (let at = places.length - 1; at >= 0; at--) {
      places[at] = Math.min(places[at]!, limit - rowHeight)
      limit = places[at]! - gap
    }
    for (const [at, { node }] of wished.entries()) place(node, places[at]!)
    return places.length > 0 ? places.at(-1)! + rowHeight : 0
  }

  /** Infinity, which sorts last, without a user on this page. */
  function middleOf(nodes: MapNode[]) {
    const shown = nodes.flatMap(({ id }) => boxes.get(id) ?? [])
    return shown.length === 0
      ? Infinity
      : shown.reduce((sum, box) => sum + box.y + box.height / 2, 0) / shown.length
  }
}
