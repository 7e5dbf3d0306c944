import type { Container } from '../docker/index.ts'
import { labelFilter, labelsFor } from '../docker/labels.ts'
import { allEnded } from '../platform/pause.ts'
import type { Component } from './component.ts'
import type { Placement } from '../db/schema.ts'

/** The id of an environment or a service. */
export type WorkloadKey = { id: string; kind: 'app' | 'service' }

export type Workload = WorkloadKey & {
  ownerId: string
  /** Only set for an environment. */
  projectId?: string
  placement?: Placement | null | undefined
  /** One server runs all of it, as it does what has volumes. */
  isWhole?: boolean
  /** Where it is moved to with its volumes, which are pinned there at the commit. */
  movesTo?: string
}

/** The label filter of its containers. */
export const filterOf = (instanceId: string, { id, kind }: WorkloadKey) =>
  labelFilter(instanceId, { kind, ...(kind === 'app' ? { environmentId: id } : { serviceId: id }) })

export function labelsOf(instanceId: string, workload: Workload, releaseId = '') {
  const { id, kind, ownerId, projectId = '' } = workload
  const of = { instanceId, kind, ownerId, projectId }
  return kind === 'app'
    ? labelsFor({ ...of, environmentId: id, deploymentId: releaseId })
    : labelsFor({ ...of, serviceId: id })
}

/** The one of a workload’s network that spans servers: containers here are on both. */
export const overlayOf = (network: string) => `${network}-swarm`

export const networkNameOf = ({ id, projectId }: Pick<Workload, 'id' | 'projectId'>) =>
  `davit-${projectId ?? id}`

type Ordered = Pick<Component, 'name' | 'waits'>

/** Finds those that wait for a container, wherever they stand. */
export function waitingFor<One>(
  containers: One[],
  componentOf: (container: One) => Ordered | null,
): (container: One) => One[] {
  return (container) => {
    const name = componentOf(container)?.name
    return containers.filter((other) =>
      componentOf(other)?.waits.some(({ component }) => component === name),
    )
  }
}

/**
 * Runs an action on containers, the last one first: each may depend on those before it. Those of an app run
 * in parallel, each after those that wait for it. Throws the first refusal when all are done.
 */
export async function lastFirst<One>(
  { kind }: Pick<Workload, 'kind'>,
  containers: One[],
  work: (container: One) => Promise<unknown>,
  componentOf: (container: One) => Ordered | null = () => null,
) {
  if (kind === 'service') {
    for (const container of containers.toReversed()) await work(container)
    return
  }
  const sooner = waitingFor(containers, componentOf)
  const ends = new Map<One, Promise<unknown>>()
  const end = (container: One): Promise<unknown> => {
    const done =
      ends.get(container) ??
      Promise.allSettled(sooner(container).map(end)).then(() => work(container))
    ends.set(container, done)
    return done
  }
  await allEnded(containers.map(end))
}

/** True when it runs, or is about to because of its restart policy. */
export const isUp = ({ state }: Pick<Container, 'state'>) =>
  ['running', 'restarting', 'paused'].includes(state)
