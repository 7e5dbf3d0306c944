import { appsAddress } from '../../config.ts'
import type { Granted, HealthCheck } from '../../docker/index.ts'
import { compatCapabilities } from '../../docker/index.ts'
import type { Component } from '../../runtime/component.ts'
import { refuseDangers } from './dangers.ts'
import { defaultMemory } from './limits.ts'
import type { Health, Port, Service, Stack } from './model.ts'
import { isOneShot } from './model.ts'
import { startOrder } from './order.ts'

export type InstanceContext = {
  id: string
  /** The user's name for it, which makes container names readable. */
  name: string
  /** By service: the name under which linked apps reach it. */
  hosts?: ReadonlyMap<string, string>
  publishAddress: string
  /** Host ports that replace those in the file; `host` as in `Published`. */
  publish?: Published[]
  /** Keys of dangers that an admin allowed for this instance. */
  allowed?: readonly string[]
  /** The limit for services whose file sets none. */
  memoryBytes?: number
  cpus?: number
}

/** A container's port and the host port that forwards to it. */
export type Published = {
  service: string
  container: number
  protocol: 'tcp' | 'udp'
  host: number
}

/** Threads count too, and databases have hundreds. */
const defaultPids = 1024

export function planContainers(stack: Stack, context: InstanceContext): Component[] {
  refuseDangers(stack.dangers, context.allowed ?? [])
  return startOrder(stack).map(({ service: name, waits }) => {
    const service = stack.services.get(name)!
    const oneShot = isOneShot(stack, name)
    return {
      name,
      replicas: service.replicas,
      options: optionsOf(service, context, oneShot),
      joins: [],
      files: service.files,
      waits: waits.map(({ service: component, condition, required, restart }) => ({
        component,
        condition,
        required,
        ...(restart && { restart }),
      })),
      oneShot,
      gate: { kind: 'engine' },
    }
  })
}

/** The names of a service on the instance's network. `hosts` has those for linked apps, by service. */
export const namesOf = (
  { name, aliases }: Pick<Service, 'name' | 'aliases'>,
  hosts?: ReadonlyMap<string, string>,
) => [...new Set([hosts?.get(name) ?? [], name, aliases].flat())]

/** Includes the instance's id, so no file can use a volume of another instance. */
export const volumeNameOf = (instanceId: string, volume: string) => `davit-${instanceId}-${volume}`

function optionsOf(
  service: Service,
  context: InstanceContext,
  oneShot: boolean,
): Component['options'] {
  const granted = grantedTo(service)
  return {
    name: containerName(context, service.name),
    image: service.image,
    env: Object.fromEntries(service.environment),
    labels: Object.fromEntries(service.labels),
    networkAliases: namesOf(service, context.hosts),
    ports: portsOf(service, context),
    memoryBytes: service.memoryBytes ?? context.memoryBytes ?? defaultMemory,
    cpus: service.cpus ?? context.cpus ?? 1,
    pidsLimit: service.pids ?? defaultPids,
    capabilities: capabilitiesOf(service),
    volumes: service.volumes.map(({ volume, path, readOnly }) => ({
      name: volumeNameOf(context.id, volume),
      path,
      readOnly,
    })),
    // Compose's own default would leave a service down after a restart of the host.
    restart: service.restart ?? { name: oneShot ? 'no' : 'unless-stopped' },
    ...(service.init !== null && { init: service.init }),
    stopTimeout: service.stopTimeout ?? 10,
    logs: service.logs ?? { maxSize: '10m', maxFiles: 3 },
    oomScoreAdj: 500,
    ...present({
      platform: service.platform,
      command: service.command,
      entrypoint: service.entrypoint,
      user: service.user,
      workingDir: service.workingDir,
      hostname: service.hostname,
      reservedBytes: service.reservedBytes,
      shmBytes: service.shmBytes,
      stopSignal: service.stopSignal,
      healthCheck: service.health && healthCheckOf(service.health),
    }),
    ...(service.extraHosts.length > 0 && { extraHosts: service.extraHosts }),
    ...(service.ulimits.length > 0 && { ulimits: service.ulimits }),
    ...(service.sysctls.size > 0 && { sysctls: Object.fromEntries(service.sysctls) }),
    ...(service.tmpfs.length > 0 && { tmpfs: service.tmpfs }),
    ...(service.readOnly && { readOnly: true }),
    ...(Object.keys(granted).length > 0 && { granted }),
  }
}

/** Readable in `docker ps`. */
function containerName({ name }: InstanceContext, service: string) {
  const slug = `${name}-${service}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `davit-${slug}`.replace(/-+/g, '-').slice(0, 48)
}

/** A chosen host port takes the place of the file's. */
function portsOf({ name, ports }: Service, { publish = [], publishAddress }: InstanceContext) {
  const own = publish.filter(({ service }) => service === name)
  const isSame = (one: PortKey) => (other: PortKey) =>
    one.container === other.container && one.protocol === other.protocol
  const chosen = own.map((port) => ({ ...port, loopback: ports.find(isSame(port))?.loopback }))
  const kept = ports.filter((port) => !own.some(isSame(port)))
  return [...chosen, ...kept].map(({ container, protocol, host, loopback }) => ({
    ...{ container, protocol, host: host ?? 0 },
    address: loopback ? appsAddress : publishAddress,
  }))
}

type PortKey = Pick<Port, 'container' | 'protocol'>

function capabilitiesOf({ capAdd, capDrop }: Service) {
  const base = capDrop.includes('ALL') ? [] : compatCapabilities
  const kept = [...base, ...capAdd].filter(
    (name) => capAdd.includes(name) || !capDrop.includes(name),
  )
  return [...new Set(kept)]
}

const healthCheckOf = (health: Health): HealthCheck =>
  health.disabled
    ? { disabled: true }
    : present({
        test: health.test,
        interval: health.interval,
        timeout: health.timeout,
        startPeriod: health.startPeriod,
        retries: health.retries,
      })

/** Everything here was allowed by an admin; the rest was refused before. */
const grantedTo = ({
  privileged,
  hostNamespaces,
  unconfined,
  binds,
  devices,
}: Service): Granted => ({
  ...(privileged && { privileged }),
  ...(hostNamespaces.includes('network') && { hostNetwork: true }),
  ...(hostNamespaces.includes('pid') && { hostPid: true }),
  ...(hostNamespaces.includes('ipc') && { hostIpc: true }),
  ...(unconfined.length > 0 && { unconfined }),
  ...(binds.length > 0 && { binds }),
  ...(devices.length > 0 && { devices }),
})

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> }

const present = <T extends Record<string, unknown>>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Present<T>
