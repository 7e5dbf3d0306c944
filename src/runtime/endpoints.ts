import { unlessUsed } from '../docker/index.ts'
import { labelFilter, labelsFor } from '../docker/labels.ts'
import { report } from '../platform/journal.ts'
import { firstServer } from '../platform/root.ts'
import { reserveAddresses } from './addresses.ts'
import { portOf } from './component.ts'
import type { Component } from './component.ts'
import { countEndpoints, isJoinable, listMembers, reservePort } from './endpoint-store.ts'
import { ensureNetwork } from './network.ts'
import { hasEdges, noServer } from './placement.ts'
import type { Endpoint } from './runtime.ts'
import type { Instance } from './store.ts'
import { networkNameOf, overlayOf } from './workload.ts'
import type { Workload } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

type Member = {
  instance: Pick<Instance, 'id' | 'containerId' | 'serverId'>
  component: Component
}

type Run = Pick<
  RuntimeDeps,
  'db' | 'engines' | 'serverList' | 'docker' | 'locks' | 'config' | 'instanceId'
> & {
  workload: Workload
  signal: AbortSignal
}

/**
 * Creates the networks that these instances join, their workload's own and those of services, and reserves
 * their addresses there (see `reserveAddresses`); for those on other servers also the ports at which they are
 * reached. A network spans servers once one of its containers is elsewhere. Returns the endpoints by instance, the workload's own
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
    const all = members.filter(({ component }) =>
      isOn(component, other === workload ? null : other.id),
    )
    const isOverlaid = isSpanning(run, other, all)
    const here = all.filter(({ instance }) => instance.serverId === firstServer)
    for (const isOverlay of [false, true]) {
      if (isOverlay ? !isOverlaid : isOverlaid && here.length === 0) continue
      const on = isOverlay ? all : here
      const network = await ensureNetworkOf(run, other, { isOverlay })
      if (other.id !== workload.id && !isJoinable(db, other.id)) {
        // the service was deleted meanwhile, and its network may have been created after that
        await unlessUsed(docker.removeNetwork(network))
        continue
      }
      if (isOverlay) await attachHere(run, { network: networkNameOf(other), overlay: network })
      if (other.kind === 'service') await rejoin(run, other, network)
      const instances = on.map(({ instance }) => instance)
      const given = await reserveAddresses(run, { network, instances, replaced, signal })
      for (const {
        instance: { id },
        component,
      } of on)
        endpoints.get(id)!.push({
          network,
          address: given.addresses.get(id),
          ...(isOverlay &&
            other === workload && {
              aliases: spanning(component.options.networkAliases ?? [], networkNameOf(other)),
            }),
          ...(other !== workload &&
            other.id === workload.id && {
              aliases: component.names,
              ownNames: component.ownNames,
            }),
        })
      for (const giver of given.takenOver) takenOver.add(giver)
    }
  }
  for (const member of members) publish(run, member)
  return { endpoints, takenOver: [...takenOver] }
}

const isSpanning = ({ engines, db }: Run, workload: Workload, members: Member[]) =>
  engines.all.length > 1 &&
  (members.some(({ instance }) => instance.serverId !== firstServer) ||
    countEndpoints(db, overlayOf(networkNameOf(workload))) > 0)

/**
 * The edge and the gate reach a container of another server at a port there, and edges of other servers an
 * app on Davit's own. Without a free port these ask Davit's edge.
 */
function publish({ db, engines, serverList, workload }: Run, { instance, component }: Member) {
  if (engines.all.length === 1 || portOf(component) === null) return
  const servers = serverList.list()
  const server = servers.find(({ id }) => id === instance.serverId)
  if (instance.serverId === firstServer) {
    const isWanted = workload.kind === 'app' && hasEdges(servers)
    if (isWanted && server?.address) reservePort(db, { instance, address: server.address })
    return
  }
  if (!server?.address) throw unreached('it has no address that this server reaches')
  if (!reservePort(db, { instance, address: server.address }))
    throw unreached('all ports for apps there are in use')
}

const unreached = (why: string) =>
  noServer(`requests can’t reach the server that it is placed on: ${why}`)

/** The names on an overlay: a service whose name is another one’s, too, is linked to by its name on its network. */
const spanning = (names: string[], network: string) =>
  names.flatMap((name) => [name, `${name}.${network}`])

/**
 * Connects the containers of this server that are on a network to its overlay, without a restart. Others may
 * attach the same ones: those of a project’s environments, or of apps that are linked to a service.
 */
const attachHere = (run: Run, { network, overlay }: { network: string; overlay: string }) =>
  run.locks.run({ id: overlay }, run.signal, async () => {
    const { db, docker, signal } = run
    const there = new Set(await docker.listJoined(overlay, { signal }))
    for (const { instanceId: id, containerId, serverId } of listMembers(db, network)) {
      if (serverId !== firstServer || there.has(containerId!)) continue
      const find = () => docker.inspectContainer(containerId!, { signal })
      const own = (await find())?.networks.find(({ name }) => name === network)
      if (!own) continue
      const of = { network: overlay, instances: [{ id }], replaced: [], signal }
      const { addresses } = await reserveAddresses(run, of)
      const aliases = spanning(own.aliases, network)
      const endpoint = { containerId: containerId!, address: addresses.get(id), aliases }
      try {
        await docker.connectNetwork(overlay, endpoint)
      } catch (error) {
        const now = await find()
        if (now && now.state !== 'removing') throw error // else it went meanwhile
      }
    }
  })

const isOn = ({ options, joins }: Component, serviceId: string | null) =>
  serviceId === null ? !options.granted?.hostNetwork : joins.includes(serviceId)

/**
 * Reconnects the apps that belong on a service's network but aren't there, because it was removed after a
 * failed start and recreated. They reach the service with their next attempt.
 */
async function rejoin(run: Run, { id: serviceId, ownerId }: Workload, network: string) {
  const { db, engines, signal } = run
  const apps = listMembers(db, network).filter(
    (app) => app.workloadId !== serviceId && !engines.isAway(app),
  )
  for (const [docker, on] of Map.groupBy(apps, (app) => engines.of(app))) {
    const there = new Set(await docker.listJoined(network, { signal }))
    for (const { instanceId: id, containerId } of on) {
      if (there.has(containerId!)) continue
      try {
        const options = { network, instances: [{ id }], replaced: [], signal }
        const { addresses } = await reserveAddresses(run, options)
        const address = addresses.get(id)
        await docker.connectNetwork(network, { containerId: containerId!, address })
      } catch (error) {
        signal.throwIfAborted()
        report('an app was not reconnected to a service', error, { service: serviceId, ownerId })
      }
    }
  }
}

/**
 * Created when first needed: the project's network, a service's own or, without a project, that of one
 * environment. Returns its name.
 */
function ensureNetworkOf(run: Run, workload: Workload, { isOverlay }: { isOverlay: boolean }) {
  const { config, instanceId, signal } = run
  const { id, kind, ownerId, projectId } = workload
  const of =
    kind === 'service' ? { serviceId: id } : projectId ? { projectId } : { environmentId: id }
  return ensureNetwork(run, {
    name: isOverlay ? overlayOf(networkNameOf(workload)) : networkNameOf(workload),
    isOverlay,
    isEncrypted: isOverlay && config.overlayEncrypted,
    filter: labelFilter(instanceId, of),
    labels: labelsFor({ instanceId, kind, ownerId, ...of }),
    signal,
  })
}
