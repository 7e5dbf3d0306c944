import type { ContainerKey, ContainerOptions } from '../../docker/index.ts'
import { partLabel, tamedLabels } from '../../docker/labels.ts'
import { hasVolumes, portOf, sealComponents } from '../component.ts'
import type { Component } from '../component.ts'
import { publishedAt } from '../endpoint-store.ts'
import { reserveEndpoints } from '../endpoints.ts'
import type { DeliveryDeps } from '../images/delivery.ts'
import { pinUnlessPinned } from '../pin-store.ts'
import type { Difference, RollOutRun } from '../run.ts'
import type { Endpoint } from '../runtime.ts'
import { insertRelease, keyOf, listLiveInstances, updateInstance } from '../store.ts'
import type { Instance } from '../store.ts'
import { labelsOf } from '../workload.ts'
import { besideEachOther } from './beside.ts'

export type CreatedContainer = ContainerKey & {
  name: string
  component: Component
  instance: Instance
  /** Set for one that ran before: what it wrote until then isn't of this start. */
  keptSince?: Date
  /** True for one that still runs, with its restart policy. */
  isUp?: boolean | undefined
}

/**
 * Stores the release, creates its network and volumes, and reserves its addresses, but for containers that are
 * there already. The live release isn't changed. If the network is full, instances whose addresses are reused have to stop first.
 */
export async function prepare(run: RollOutRun, { kept, fresh: slots }: Difference) {
  const { db, secrets, workload, release } = run
  const vacant = slots.filter(({ from }) => !from)
  const { components } = release
  const beside = { components, serverId: kept[0]?.serverId }
  const places = await run.runtime.place(
    workload,
    vacant.map(({ component }) => component),
    beside,
  )
  const rows = insertRelease(db, {
    workload,
    id: release.id,
    components: sealComponents(secrets, release.id, components),
    edge: release.edge,
    slots: vacant.map(({ component, slot }, at) => ({
      serverId: places[at]!,
      component: component.name,
      slot,
      port: portOf(component),
    })),
  })
  if (vacant.length === 0) return { rows, endpoints: new Map<string, Endpoint[]>(), takenOver: [] }
  const members = vacant.map(({ component }, at) => ({ component, instance: rows[at]! }))
  const { endpoints, takenOver } = await reserveEndpoints(run, {
    members,
    replaced: listLiveInstances(db, workload.id).filter(
      ({ id }) => !kept.some(({ instance }) => instance.id === id),
    ),
  })
  await ensureVolumes(run, members)
  return { rows, endpoints, takenOver }
}

/** Creates volumes that components mount when they are first needed. */
export async function ensureVolumes(
  {
    db,
    engines,
    instanceId,
    workload,
  }: Pick<RollOutRun, 'db' | 'engines' | 'instanceId' | 'workload'>,
  members: { component: Component; instance: Instance }[],
) {
  const first = members.find(({ component }) => hasVolumes([component]))
  if (first) pinUnlessPinned(db, workload, first.instance.serverId)
  const labels = labelsOf(instanceId, workload)
  for (const [docker, on] of Map.groupBy(members, ({ instance }) => engines.of(instance))) {
    const volumes = on.flatMap(({ component }) => component.options.volumes ?? [])
    for (const name of new Set(volumes.map((volume) => volume.name)))
      await docker.createVolume({ name, labels })
  }
}

/** Doesn't start them. */
export async function create(
  run: RollOutRun,
  {
    rows,
    endpoints,
    fresh,
  }: Pick<Difference, 'fresh'> & Pick<Awaited<ReturnType<typeof prepare>>, 'rows' | 'endpoints'>,
): Promise<CreatedContainer[]> {
  const { signal } = run
  const created = rows.values()
  const all = fresh.map((one) => {
    const instance = one.from ?? created.next().value!
    return { ...one, instance, serverId: instance.serverId }
  })
  return besideEachOther(all, async ({ component, from, isUp, instance }) => {
    signal.throwIfAborted()
    if (from) {
      const name = `${component.options.name}${endOfName(from.id)}`
      return { ...keyOf(from)!, name, component, instance, keptSince: new Date(), isUp }
    }
    const of = { component, instance, endpoints: endpoints.get(instance.id)! }
    return createOne(run, { ...of, state: 'starting' })
  })
}

/** Creates the container of an instance and sets its state, without starting it. */
export async function createOne(
  run: Pick<RollOutRun, keyof DeliveryDeps | 'runtime' | 'workload' | 'network' | 'signal'> & {
    hooks?: Pick<RollOutRun['hooks'], 'log'>
  },
  {
    component,
    instance,
    endpoints,
    state,
  }: {
    component: Component
    instance: Instance
    /** With the instance's reserved addresses. */
    endpoints: Endpoint[]
    state: Instance['state']
  },
): Promise<CreatedContainer> {
  const { db, engines, instanceId, workload, network, signal } = run
  const { serverId } = instance
  const labels = labelsOf(instanceId, workload, instance.releaseId)
  const { image: name, ports = [] } = component.options
  const { log = () => {} } = run.hooks ?? {}
  if (serverId !== engines.all[0].serverId) {
    const { deliverImage } = await import('../images/deliver-image.ts')
    await deliverImage(run, { image: name, serverId, workload, log, signal })
  }
  const [first = { network, address: undefined }] = endpoints
  const image = await engines.of(instance).inspectImage(name)
  const of = { instanceId: instance.id, labels, imageLabels: image?.labels ?? {} }
  const options = optionsOf(component, { ...of, network: first.network, address: first.address })
  const published = publishedAt(db, instance)
  const container = portOf(component)
  if (published && container !== null)
    options.ports = [...ports, { container, host: published.port, address: published.address }]
  const { files } = component
  const id = await run.runtime.create({ ...options, serverId, endpoints, files })
  updateInstance(db, instance.id, { containerId: id, state })
  return { id, serverId, name: options.name, component, instance }
}

/** Makes the container's name unique. */
export const endOfName = (instanceId: string) => `-${instanceId.slice(-12)}`

/** The name and labels allow two releases to exist side by side. */
export const optionsOf = (
  { name, options }: Pick<Component, 'name' | 'options'>,
  of: Pick<ContainerOptions, 'network' | 'labels'> & {
    instanceId: string
    imageLabels: Record<string, string>
    address?: string | undefined
  },
): ContainerOptions => ({
  ...options,
  name: `${options.name}${endOfName(of.instanceId)}`,
  labels: {
    ...tamedLabels(options.labels ?? {}, of.imageLabels),
    ...of.labels,
    [partLabel]: name,
  },
  network: of.network,
  ...(of.address !== undefined && { address: of.address }),
  // a crash must end the gate, not be hidden by a restart; the policy is set once it has passed
  restart: { name: 'no' },
})
