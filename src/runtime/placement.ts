import type { Placement } from '../db/schema.ts'
import { Failure } from '../platform/errors.ts'
import { isNamed } from '../servers/store.ts'
import type { Component } from './component.ts'

/** A row of the servers; that of the server that Davit runs on is first. */
export type Server = {
  id: string
  name: string
  /** Where the other servers reach it. */
  address: string | null
  roles: readonly string[]
  labels: Record<string, string>
  state: 'ready' | 'draining' | 'away'
}

export type Candidate = Server & {
  /** Null while its engine doesn’t respond. */
  machine: { arch: string; memoryBytes: number } | null
  /** Containers there. */
  containers: number
}

type Wanted = {
  placement: Placement | null
  components: Pick<Component, 'name' | 'options'>[]
  /** One server runs all of them. */
  isWhole?: boolean
  /** That it has to be, whatever the placement says. */
  pinned?: string | null
  /** Each server pulls their images itself. */
  isPulled?: boolean
  /** Servers of its other containers, beside which others are better. */
  others?: string[] | undefined
}

/** Chooses a server for each component. Throws when none may run one, and says why for each. */
export function chooseServers(candidates: Candidate[], wanted: Wanted): string[] {
  const { components, isWhole, pinned = null, others = [] } = wanted
  const has = (id: string) => others.filter((other) => other === id).length
  const chosen = new Map(candidates.map(({ id }) => [id, has(id)]))
  function choose(group: Wanted['components']) {
    const refused = candidates.map((one) =>
      group.map((component) => whyNot(one, candidates[0]!, wanted, component)).find(isRefusal),
    )
    const [best] = candidates
      .filter((_, at) => refused[at] === undefined)
      .toSorted((a, b) => chosen.get(a.id)! - chosen.get(b.id)! || load(a) - load(b))
    if (!best) throw noneFor(group, refused.filter(Boolean).join('; '), pinned)
    chosen.set(best.id, chosen.get(best.id)! + group.length)
    return best.id
  }
  if (!isWhole) return components.map((component) => choose([component]))
  const server = choose(components)
  return components.map(() => server)
}

const isRefusal = (why: string | null) => why !== null

/** Containers by memory. */
const load = ({ containers, machine }: Candidate) => containers / machine!.memoryBytes

function whyNot(
  candidate: Candidate,
  own: Candidate,
  { placement, pinned, isPulled }: Wanted,
  { name, options }: Wanted['components'][number],
): string | null {
  const { id, name: server, machine } = candidate
  if (pinned) {
    if (id !== pinned) return ''
    if (candidate.state === 'away' || !machine)
      return `it waits for ${server}, which has its volumes`
  } else {
    if (!isNamed(candidate, placement ?? { server: own.id }))
      return placement && 'labels' in placement ? `${server} doesn’t have the labels` : ''
    if (!candidate.roles.includes('apps')) return `${server} doesn’t have the role apps`
    if (candidate.state === 'draining') return `${server} is being drained`
    if (candidate.state === 'away' || !machine) return `${server} doesn’t respond`
  }
  if (!isPulled && own.machine && machine.arch !== own.machine.arch)
    return `${server} is ${machine.arch}, and images are built for ${own.machine.arch}`
  if (machine.memoryBytes < options.memoryBytes)
    return `${server} has ${inMiB(machine.memoryBytes)} of memory, and ${name} may use ${inMiB(options.memoryBytes)}`
  return null
}

function noneFor(group: Wanted['components'], why: string, pinned: string | null) {
  const removed = pinned
    ? 'the one that has its volumes was removed'
    : 'the one that it is placed on was removed'
  const names = group.map(({ name }) => name).join(', ')
  return noServer(
    `no server may run ${names}: ${why || removed}`,
    pinned ? 'Start it once that server responds.' : undefined,
  )
}

/** Whether a server beside Davit's own has an edge. */
export const hasEdges = ([, ...others]: readonly Pick<Server, 'roles'>[]) =>
  others.some(({ roles }) => roles.includes('edge'))

/** In whole ones, as a server may have a little less than a limit. */
const inMiB = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB`

export const noServer = (
  why: string,
  hint = 'Change its placement, or the servers, then deploy again.',
) => new Failure('no_server', `Start failed: ${why}.`, hint, { cause: why })
