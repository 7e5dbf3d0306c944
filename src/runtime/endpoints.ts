import { unlessUsed } from '../docker/index.ts'
import { labelFilter, labelsFor } from '../docker/labels.ts'
import { report } from '../platform/journal.ts'
import { reserveAddresses } from './addresses.ts'
import type { Component } from './component.ts'
import { isJoinable, listMembers } from './endpoint-store.ts'
import type { Endpoint } from './runtime.ts'
import type { Instance } from './store.ts'
import { networkNameOf } from './workload.ts'
import type { Workload } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

type Member = { instance: Pick<Instance, 'id' | 'containerId'>; component: Component }

type Run = Pick<RuntimeDeps, 'db' | 'engines' | 'docker' | 'runtime' | 'config' | 'instanceId'> & {
  workload: Workload
  signal: AbortSignal
}

/**
 * Creates the networks that these instances join, their workload's own and those of services, and reserves
 * their addresses there (see `reserveAddresses`). Returns the endpoints by instance, the workload's own
 * network first, and the instances that have to stop first.
 */
export async function reserveEndpoints(
  run: Run,
  { members, replaced = [] }: { members: Member[]; replaced?: Instance[] },
) {
  const { db, docker, workload, signal } = run
  const endpoints = new Map<string, Endpoint[]>(members.map(({ instance: { id } }) => [id, []]))
  const takenOver = new Set<Instance>()
  const { ownerId } = workload
  const joined = [...new Set(members.flatMap(({ component }) => component.joins))]
    .filter((id) => id === workload.id || isJoinable(db, id))
    .map((id): Workload => ({ id, kind: id === workload.id ? 'app' : 'service', ownerId }))
  for (const other of [workload, ...joined]) {
    const network = await ensureNetworkOf(run, other, signal)
    if (other.id !== workload.id && !isJoinable(db, other.id)) {
      // the service was deleted meanwhile, and its network may have been created after that
      await unlessUsed(docker.removeNetwork(network))
      continue
    }
    if (other.kind === 'service') await rejoin(run, other)
    const on = members.filter(({ component }) =>
      isOn(component, other === workload ? null : other.id),
    )
    const instances = on.map(({ instance }) => instance)
    const given = await reserveAddresses(run, { network, instances, replaced, signal })
    for (const {
      instance: { id },
      component,
    } of on)
      endpoints.get(id)!.push({
        network,
        address: given.addresses.get(id),
        ...(other !== workload && other.id === workload.id && { aliases: component.names }),
      })
    for (const giver of given.takenOver) takenOver.add(giver)
  }
  return { endpoints, takenOver: [...takenOver] }
}

const isOn = ({ options, joins }: Component, serviceId: string | null) =>
  serviceId === null ? !options.granted?.hostNetwork : joins.includes(serviceId)

/**
 * Reconnects the apps that belong on a service's network but aren't there, because it was removed after a
 * failed start and recreated. They reach the service with their next attempt.
 */
async function rejoin(run: Run, { id: serviceId, ownerId }: Workload) {
  const { db, engines, docker, signal } = run
  const network = networkNameOf({ id: serviceId })
  const apps = listMembers(db, network).filter(({ workloadId }) => workloadId !== serviceId)
  if (apps.length === 0) return
  const there = new Set(await docker.listJoined(network, { signal }))
  for (const { instanceId: id, containerId, serverId } of apps) {
    if (there.has(containerId!)) continue
    try {
      const instances = [{ id, containerId }]
      const options = { network, instances, replaced: [], signal }
      const { addresses } = await reserveAddresses(run, options)
      const address = addresses.get(id)
      await engines.of({ serverId }).connectNetwork(network, { containerId: containerId!, address })
    } catch (error) {
      signal.throwIfAborted()
      report('an app was not reconnected to a service', error, { service: serviceId, ownerId })
    }
  }
}

/**
 * Created when first needed: the project's network, a service's own or, without a project, that of one
 * environment. Returns its name.
 */
function ensureNetworkOf(
  { runtime, config, instanceId }: Pick<RuntimeDeps, 'runtime' | 'config' | 'instanceId'>,
  workload: Workload,
  signal: AbortSignal,
) {
  const { id, kind, ownerId, projectId } = workload
  const of =
    kind === 'service' ? { serviceId: id } : projectId ? { projectId } : { environmentId: id }
  return runtime.ensureNetwork({
    networkPool: config.networkPool,
    name: networkNameOf(workload),
    filter: labelFilter(instanceId, of),
    labels: labelsFor({ instanceId, kind, ownerId, ...of }),
    signal,
  })
}
