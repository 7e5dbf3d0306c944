import type { Deps } from '../deps.ts'
import { freeSubnet, isSubnetTaken } from '../docker/index.ts'

/** Subnets that are tried when someone else keeps taking the one just found free. */
const maxTries = 30

/**
 * The network of a project or a service, made when it is first wanted, on a subnet of its own.
 * Found again by the filter. Returns its name.
 */
export async function ensureNetwork(
  { docker, config }: Pick<Deps, 'docker' | 'config'>,
  {
    name,
    filter,
    labels,
    signal,
  }: { name: string; filter: string[]; labels: Record<string, string>; signal: AbortSignal },
) {
  const [existing] = await docker.listNetworks({ labels: filter, signal })
  if (existing) return existing.name
  const refused: string[] = [] // a network in the making is not listed yet
  for (;;) {
    const used = [...(await docker.usedSubnets({ signal })), ...refused]
    const subnet = freeSubnet({ pool: config.networkPool, prefix: 26, used })
    try {
      await docker.createNetwork({ name, subnet, labels })
      return name
    } catch (error) {
      const [made] = await docker.listNetworks({ labels: filter, signal })
      if (made) return made.name // another one who wanted it was quicker
      if (!isSubnetTaken(error) || refused.push(subnet) === maxTries) throw error
    }
  }
}
