import type { Container, ContainerSummary, DiskUse, Image } from '../../../src/docker/index.ts'
import { gatewayOf } from './addresses.ts'
import type { FakeEngine } from './engine.ts'
import type { FakeContainer, FakeImage } from './state.ts'

const toTime = (time: number | null) => (time === null ? null : new Date(time))

/** What an inspection of a container answers. */
export function containerView(engine: FakeEngine, one: FakeContainer): Container {
  const { options } = one
  const test = engine.healthTest(one)
  const endpoints = [...one.endpoints]
  return {
    serverId: engine.serverId,
    id: one.id,
    name: one.name,
    image: options.image,
    imageId: one.imageId,
    command: one.command,
    env: Object.entries(options.env ?? {}).map((pair) => pair.join('=')),
    user: options.user ?? null,
    workingDir: options.workingDir ?? null,
    labels: labelsOf(engine, one),
    createdAt: new Date(one.createdAt),
    state: one.state,
    exitCode: one.exitCode,
    oomKilled: false,
    error: one.error,
    startedAt: toTime(one.startedAt),
    finishedAt: toTime(one.finishedAt),
    restartCount: one.restartCount,
    restartPolicy: one.policy,
    health: one.health,
    healthTest: test && { command: test.slice(1), timeout: 30_000 },
    healthOutput: null,
    tty: false,
    logDriver: 'json-file',
    privileged: options.granted?.privileged ?? false,
    memoryLimit: options.memoryBytes,
    cpus: options.cpus,
    pidsLimit: options.pidsLimit,
    mounts: (options.volumes ?? []).map(({ name, path, readOnly = false }) => ({
      type: 'volume',
      source: name,
      destination: path,
      readOnly,
    })),
    networks: endpoints.map(([name, { address, aliases }]) => {
      const network = engine.network(name)
      const gateway = address && network ? gatewayOf(network) : null
      return { name, address, gateway, mac: null, aliases }
    }),
    addresses: addressesOf(one),
    ports: one.held,
    hostAddresses: (options.ports ?? []).map(({ address }) => address),
    exposedPorts: [],
  }
}

/** What a list has of it. */
export function summaryView(engine: FakeEngine, one: FakeContainer): ContainerSummary {
  const { state, exitCode } = one
  const isOver = state === 'exited' || state === 'restarting'
  const runs = state === 'running'
  return {
    serverId: engine.serverId,
    id: one.id,
    name: one.name,
    image: one.options.image,
    imageId: one.imageId,
    labels: labelsOf(engine, one),
    createdAt: new Date(Math.floor(one.createdAt / 1000) * 1000),
    state,
    status: runs ? 'Up a while' : isOver ? `Exited (${exitCode}) a while ago` : 'Created',
    health: runs ? one.health : null,
    exitCode: isOver ? exitCode : null,
    addresses: addressesOf(one),
    ports: one.held,
  }
}

export const imageView = (image: FakeImage): Image => ({
  id: image.id,
  tags: [...image.tags],
  digests: [...image.digests],
  layers: [],
  onBuild: [],
  env: [],
  labels: image.labels,
  createdAt: new Date(image.createdAt),
  size: 1_000_000,
  exposedPorts: image.exposedPorts,
  entrypoint: [],
  command: [],
  healthInterval: image.health ? 30_000 : null,
})

/** What the engine has on its disk. */
export const diskUseOf = (engine: FakeEngine): DiskUse => ({
  layersSize: 1_000_000,
  images: [...engine.images.values()].map((image) => ({ ...imageView(image), sharedSize: 0 })),
  containers: [...engine.containers.values()].map((one) => ({
    ...summaryView(engine, one),
    createdAt: new Date(one.createdAt),
    size: 0,
    networks: [...one.endpoints.keys()],
    volumes: (one.options.volumes ?? []).map(({ name }) => name),
  })),
  volumes: [...engine.volumes.values()].map((volume) => ({ ...volume, size: 1000 })),
  buildCache: [],
})

const addressesOf = ({ endpoints }: FakeContainer) =>
  Object.fromEntries(
    [...endpoints].flatMap(([name, { address }]) => (address ? [[name, address]] : [])),
  )

const labelsOf = (engine: FakeEngine, { imageId, options }: FakeContainer) => ({
  ...engine.images.get(imageId)?.labels,
  ...options.labels,
})

/** Which addresses of a network have an owner; null when there is no such network. */
export function useOf(engine: FakeEngine, name: string) {
  const network = engine.network(name)
  if (!network) return null
  const addresses = [...engine.containers.values()].flatMap(({ id: containerId, endpoints }) => {
    const { wanted = null, address = null } = endpoints.get(network.name) ?? {}
    const at = wanted ?? address
    return at ? [{ containerId, address: at, isFixed: wanted !== null }] : []
  })
  return { subnet: network.subnet, gateway: null, addresses } // none was asked for
}

/** Whether labels pass a filter of `key` and `key=value`. */
export const passes = (labels: Record<string, string>, filter: string[]) =>
  filter.every((wanted) => {
    const at = wanted.indexOf('=')
    if (at === -1) return wanted in labels
    return labels[wanted.slice(0, at)] === wanted.slice(at + 1)
  })
