import type { DiskSpace } from '../../../src/platform/disk-space.ts'
import { EngineError } from '../../../src/docker/index.ts'
import { overlap } from './addresses.ts'
import type { Clock, FakeContainer, FakeImage, FakeNetwork, FakeVolume } from './state.ts'
import { firstServer } from '../../../src/platform/root.ts'

/** All that an engine has, as plain values. */
export type Inventory = {
  made: number
  containers: Omit<FakeContainer, 'timers' | 'waiting'>[]
  networks: FakeNetwork[]
  volumes: FakeVolume[]
  images: FakeImage[]
}

const nothing: Inventory = { made: 0, containers: [], networks: [], volumes: [], images: [] }

/** What an engine has, and what may be done to it but for running containers. */
export class Objects {
  serverId = firstServer
  readonly containers: Map<string, FakeContainer>
  readonly networks: Map<string, FakeNetwork>
  readonly volumes: Map<string, FakeVolume>
  readonly images: Map<string, FakeImage>
  readonly clock: Clock
  /** What `df` would say of its disk. */
  space: DiskSpace | null = null
  #made: number

  constructor(clock: Clock, from: Inventory | null = null) {
    this.clock = clock
    const { made, containers, networks, volumes, images } = structuredClone(from ?? nothing)
    this.#made = made
    const idle = containers.map((one) => ({ ...one, timers: [], waiting: new Set<() => void>() }))
    this.containers = new Map(idle.map((one) => [one.id, one]))
    this.networks = new Map(networks.map((one) => [one.id, one]))
    this.volumes = new Map(volumes.map((one) => [one.name, one]))
    this.images = new Map(images.map((one) => [one.id, one]))
    if (from) return
    const bridge = { subnet: '172.17.0.0/16', labels: {} }
    this.networks.set('bridge', { id: this.newId(), name: 'bridge', ...bridge })
    this.addImage({ tags: ['busybox:latest'], command: ['sh', '-c', 'exit 0'] })
  }

  /** What another one can begin with; of containers, only those that go on for ever. */
  snapshot = (): Inventory =>
    structuredClone({
      made: this.#made,
      containers: [...this.containers.values()].map(({ timers, waiting, ...one }) => {
        if (timers.length > 0) throw new Error(`The container ${one.name} is not at rest.`)
        return one
      }),
      networks: [...this.networks.values()],
      volumes: [...this.volumes.values()],
      images: [...this.images.values()],
    })

  addImage(image: Partial<FakeImage> & { tags: string[]; command: string[] }) {
    const tags = image.tags.map(shortName)
    for (const tag of tags) this.untag(tag)
    const added: FakeImage = {
      id: `sha256:${this.newId()}`,
      digests: [],
      labels: {},
      exposedPorts: [],
      health: null,
      createdAt: this.clock.now(),
      ...image,
      tags,
    }
    this.images.set(added.id, added)
    return added
  }

  tag(image: FakeImage, reference: string) {
    this.untag(reference)
    image.tags.push(shortName(reference))
  }

  untag(reference: string) {
    const tag = shortName(reference)
    for (const image of this.images.values())
      image.tags = image.tags.filter((other) => other !== tag)
  }

  image(reference: string) {
    const name = shortName(reference)
    return (
      this.images.get(reference) ??
      this.images
        .values()
        .find(({ tags, digests }) => tags.includes(name) || digests.includes(name))
    )
  }

  container(id: string) {
    const found =
      this.containers.get(id) ?? this.containers.values().find(({ name }) => name === id)
    if (!found) throw new EngineError(404, `No such container: ${id}`)
    return found
  }

  network(id: string) {
    return this.networks.get(id) ?? this.networks.values().find(({ name }) => name === id)
  }

  createNetwork(asked: { name: string; labels?: Record<string, string>; subnet?: string }) {
    const { name, labels = {} } = asked
    if (this.network(name)) throw new EngineError(409, `network with name ${name} already exists`)
    const subnet = asked.subnet ?? `172.${18 + this.networks.size}.0.0/16`
    if (this.networks.values().some((other) => overlap(other.subnet, subnet)))
      throw new EngineError(403, 'Pool overlaps with other one on this address space')
    const id = this.newId()
    this.networks.set(id, { id, name, labels, subnet })
    return id
  }

  removeNetwork(id: string) {
    const network = this.network(id)
    if (!network) throw new EngineError(404, `No such network: ${id}`)
    if (network.name === 'bridge')
      throw new EngineError(403, 'bridge is a pre-defined network and cannot be removed')
    if (this.containers.values().some(({ endpoints }) => endpoints.get(network.name)?.address))
      throw new EngineError(
        403,
        `error while removing network: network ${network.name} id ${network.id} has active endpoints`,
      )
    this.networks.delete(network.id)
  }

  removeVolume(name: string) {
    if (!this.volumes.has(name)) throw new EngineError(404, `get ${name}: no such volume`)
    const user = this.containers
      .values()
      .find(({ options }) => options.volumes?.some((volume) => volume.name === name))
    if (user) throw new EngineError(409, `remove ${name}: volume is in use - [${user.id}]`)
    this.volumes.delete(name)
  }

  removeImage(reference: string, { force }: { force: boolean }) {
    const image = this.image(reference)
    if (!image) throw new EngineError(404, `No such image: ${reference}`)
    const isName = !this.images.has(reference)
    const user = this.containers.values().find(({ imageId }) => imageId === image.id)
    if (user && !force && (!isName || image.tags.length === 1))
      throw new EngineError(
        409,
        `conflict: unable to remove repository reference "${reference}" (must force) - container ${user.id} is using its referenced image ${image.id}`,
      )
    if (isName) this.untag(reference)
    if (!isName || (image.tags.length === 0 && !user)) this.images.delete(image.id)
  }

  newId() {
    return (++this.#made).toString(16).padStart(4, '0').padEnd(64, 'f0')
  }
}

/** As the engine lists it: with its tag, and without what Docker Hub's names may leave out. */
function shortName(reference: string) {
  const name = reference.replace(/^docker\.io\/(library\/)?/, '')
  return /[:@][^/]*$/.test(name) ? name : `${name}:latest`
}
