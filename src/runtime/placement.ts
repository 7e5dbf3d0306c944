import type { Placement } from '../db/schema.ts'
import { Failure } from '../platform/errors.ts'
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
  placement: Placement
  components: Pick<Component, 'name' | 'options'>[]
}

/** Chooses a server for each component. Throws when none may run one, and says why for each. */
export function chooseServers(
  candidates: Candidate[],
  { placement, components }: Wanted,
): string[] {
  const own = candidates[0]!
  const chosen = new Map(candidates.map(({ id }) => [id, 0]))
  return components.map((component) => {
    const refused = candidates.map((one) => whyNot(one, { own, placement, component }))
    const [best] = candidates
      .filter((_, at) => refused[at] === null)
      .toSorted((a, b) => chosen.get(a.id)! - chosen.get(b.id)! || load(a) - load(b))
    if (!best) {
      const why = refused.filter(Boolean).join('; ') || 'the one that it is placed on was removed'
      throw noServer(`no server may run ${component.name}: ${why}`)
    }
    chosen.set(best.id, chosen.get(best.id)! + 1)
    return best.id
  })
}

/** Containers by memory. */
const load = ({ containers, machine }: Candidate) => containers / machine!.memoryBytes

type Question = {
  own: Candidate
  placement: Placement
  component: Wanted['components'][number]
}

function whyNot(
  candidate: Candidate,
  { own, placement, component: { name, options } }: Question,
): string | null {
  const { id, name: server, machine } = candidate
  if (!isNamed(candidate, placement))
    return 'server' in placement ? '' : `${server} doesn’t have the labels`
  if (!candidate.roles.includes('apps')) return `${server} doesn’t have the role apps`
  if (candidate.state === 'draining') return `${server} is being drained`
  if (candidate.state === 'away' || !machine) return `${server} doesn’t respond`
  if (id !== own.id && (options.volumes ?? []).length > 0)
    return `${server} doesn’t have its volumes, which are on ${own.name}`
  if (own.machine && machine.arch !== own.machine.arch)
    return `${server} is ${machine.arch}, and images are built for ${own.machine.arch}`
  if (machine.memoryBytes < options.memoryBytes)
    return `${server} has ${inMb(machine.memoryBytes)}, and ${name} may use ${inMb(options.memoryBytes)}`
  return null
}

/** Whether a placement means this server. */
export const isNamed = ({ id, labels }: Server, placement: Placement) =>
  'server' in placement
    ? placement.server === id
    : Object.entries(placement.labels).every(([key, value]) => labels[key] === value)

const inMb = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MB of memory`

export const noServer = (why: string) =>
  new Failure(
    'no_server',
    `Start failed: ${why}.`,
    'Change its placement, or the servers, then deploy again.',
  )
