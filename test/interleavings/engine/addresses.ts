import { EngineError } from '../../../src/docker/index.ts'
import type { FakeEngine } from './engine.ts'
import type { FakeContainer, FakeNetwork } from './state.ts'

/** The lowest address that no running container has; the first one is the gateway's. */
export function nextAddress({ subnet }: FakeNetwork, taken: Set<string>): string {
  const { from, size } = rangeOf(subnet)
  for (let at = from + 2; at < from + size - 1; at++) if (!taken.has(toText(at))) return toText(at)
  throw new EngineError(403, "no available IPv4 addresses on this network's address pools")
}

/** What the running containers of a network have, and its gateway. */
export function takenOn({ name, subnet }: FakeNetwork, containers: Iterable<FakeContainer>) {
  const taken = new Set([toText(rangeOf(subnet).from + 1)])
  for (const { endpoints } of containers) {
    const address = endpoints.get(name)?.address
    if (address) taken.add(address)
  }
  return taken
}

export const gatewayOf = ({ subnet }: FakeNetwork) => toText(rangeOf(subnet).from + 1)

export const isWithin = (subnet: string, address: string) => {
  const { from, size } = rangeOf(subnet)
  const at = toNumber(address)
  return at >= from && at < from + size
}

export function overlap(a: string, b: string) {
  const [one, two] = [rangeOf(a), rangeOf(b)]
  return one.from < two.from + two.size && two.from < one.from + one.size
}

function rangeOf(subnet: string) {
  const [address = '', prefix] = subnet.split('/')
  return { from: toNumber(address), size: 2 ** (32 - Number(prefix)) }
}

const toNumber = (address: string) =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const toText = (value: number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')

type Joining = {
  name: string
  containerId: string
  address?: string | undefined
  aliases?: string[] | undefined
}

function bothOf(engine: FakeEngine, { name, containerId }: Joining) {
  const network = engine.network(name)
  if (!network) throw new EngineError(404, `network ${name} not found`)
  return { network, container: engine.container(containerId) }
}

/** One that runs has its address there at once. */
export function joinNetwork(engine: FakeEngine, joining: Joining) {
  const { network, container } = bothOf(engine, joining)
  const { address: wanted = null, aliases = [] } = joining
  const taken = takenOn(network, engine.containers.values())
  const address = container.state === 'running' ? (wanted ?? nextAddress(network, taken)) : null
  if (address && taken.has(address)) throw new EngineError(403, 'Address already in use')
  container.endpoints.set(network.name, { aliases, wanted, address })
}

export function leaveNetwork(engine: FakeEngine, joining: Joining) {
  const { network, container } = bothOf(engine, joining)
  if (!container.endpoints.delete(network.name))
    throw new EngineError(500, `container ${container.id} is not connected to ${network.name}`)
}
