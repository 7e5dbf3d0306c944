import type { Config } from '../config.ts'
import { freeSubnet, isSubnetTaken, unlessUsed } from '../docker/index.ts'
import type { Docker, Engines } from '../docker/index.ts'
import { KeyedLock } from '../platform/semaphore.ts'

/** Someone else may keep taking the free subnet that was just found. */
const maxTries = 30

export type NetworkDeps = {
  docker: Docker
  /** Those of a swarm, for an overlay. */
  engines?: Engines
  config: Pick<Config, 'networkPool'>
}

type NetworkSpec = {
  name: string
  filter: string[]
  labels: Record<string, string>
  /** True to span all servers, which needs a swarm. */
  isOverlay?: boolean
  /** Of an overlay, when it is created: between servers. */
  isEncrypted?: boolean
  signal: AbortSignal
}

/** The engine allows two simultaneous creations with one name, and then finds neither by it. */
const locks = new KeyedLock()

/** Creates the network on its own subnet when it is first needed. Returns its name. */
export const ensureNetwork = (deps: NetworkDeps, wanted: NetworkSpec) =>
  locks.run(wanted.name, wanted.signal, async () => {
    if (await findOne(deps, wanted)) return wanted.name
    await makeNetwork(deps, wanted)
    await findOne(deps, wanted)
    return wanted.name
  })

/** Also removes a duplicate of the name: a Davit that was killed may have requested it. */
async function findOne(
  { docker }: Pick<NetworkDeps, 'docker'>,
  { name, filter, signal }: NetworkSpec,
) {
  const all = await docker.listNetworks({ labels: filter, signal })
  const found = all.filter((network) => network.name === name)
  let spare = found.length - 1
  for (const { id } of found) if (spare > 0 && (await unlessUsed(docker.removeNetwork(id)))) spare--
  return found.length > 0
}

async function makeNetwork(deps: NetworkDeps, wanted: NetworkSpec) {
  const { docker, engines, config } = deps
  const { name, labels, isOverlay = false, isEncrypted = false, signal } = wanted
  const refused: string[] = [] // a network being created isn't listed yet
  for (;;) {
    const { found } =
      engines && isOverlay
        ? await engines.reachable((one) => one.usedSubnets({ signal }))
        : { found: await docker.usedSubnets({ signal }) }
    const used = [...found, ...refused]
    const subnet = freeSubnet({ pool: config.networkPool, prefix: 26, used })
    try {
      return await docker.createNetwork({ name, subnet, labels, isOverlay, isEncrypted })
    } catch (error) {
      if (await findOne(deps, wanted)) return
      if (!isSubnetTaken(error) || refused.push(subnet) === maxTries) throw error
    }
  }
}
