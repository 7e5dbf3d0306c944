import type { ContainerOptions } from '../../docker/index.ts'
import { partLabel } from '../../docker/labels.ts'
import { reserveAddresses } from '../addresses.ts'
import { sealComponents } from '../component.ts'
import type { Component } from '../component.ts'
import type { RollOutRun } from '../run.ts'
import { insertRelease, listInstances, updateInstance } from '../store.ts'
import type { Instance } from '../store.ts'
import { ensureNetworkOf, labelsOf } from '../workload.ts'

/** A container of the release. */
export type Made = { id: string; name: string; component: Component; instance: Instance }

/**
 * Stores the release, makes its network and volumes, and chooses its addresses. Nothing of the live one
 * is touched; where the network is full, its containers have to stop before the new ones start.
 */
export async function prepare(run: RollOutRun) {
  const { db, docker, secrets, instanceId, workload, release, network, signal } = run
  const rows = insertRelease(db, {
    workload,
    id: release.id,
    components: sealComponents(secrets, release.id, release.components),
    names: release.components.map(({ name }) => name),
  })
  await ensureNetworkOf(run, workload, signal)
  const isApart = release.components.map(({ options }) => options.granted?.hostNetwork)
  const { addresses, takenOver } = await reserveAddresses(run, {
    network,
    instances: rows.filter((_, at) => !isApart[at]),
    replaced: listInstances(db, workload.id).filter(
      ({ state }) => state === 'live' || state === 'stopped',
    ),
    signal,
  })
  const labels = labelsOf(instanceId, workload)
  const volumes = release.components.flatMap(({ options }) => options.volumes ?? [])
  for (const name of new Set(volumes.map((volume) => volume.name)))
    await docker.createVolume({ name, labels })
  return { rows, addresses, isFull: takenOver.length > 0 }
}

/** Creates the containers; nothing runs yet. */
export async function create(
  run: RollOutRun,
  { rows, addresses }: { rows: Instance[]; addresses: ReadonlyMap<string, string> },
): Promise<Made[]> {
  const { db, docker, instanceId, workload, release, network, signal } = run
  const labels = labelsOf(instanceId, workload, release.id)
  const made: Made[] = []
  for (const [at, component] of release.components.entries()) {
    signal.throwIfAborted()
    const instance = rows[at]!
    const options = optionsOf(component, {
      instanceId: instance.id,
      labels,
      network,
      address: addresses.get(instance.id),
    })
    const id = await docker.createContainer(options)
    made.push({ id, name: options.name, component, instance })
    updateInstance(db, instance.id, { containerId: id, network, state: 'starting' })
    const { files } = component
    if (files.length > 0) await docker.putArchive(id, { path: '/', files })
  }
  return made
}

/** What only the container of this instance is named with. */
export const endOfName = (instanceId: string) => `-${instanceId.slice(-12)}`

/** How its container is to be: two releases can stand beside each other. */
export const optionsOf = (
  { name, options }: Pick<Component, 'name' | 'options'>,
  of: Pick<ContainerOptions, 'network' | 'labels'> & {
    instanceId: string
    address?: string | undefined
  },
): ContainerOptions => ({
  ...options,
  name: `${options.name}${endOfName(of.instanceId)}`,
  labels: { ...options.labels, ...of.labels, [partLabel]: name },
  network: of.network,
  ...(of.address !== undefined && { address: of.address }),
  // a crash must end the gate, not be hidden by a restart; the policy follows once it is through
  restart: { name: 'no' },
})
