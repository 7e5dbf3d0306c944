import { appsAddress } from '../config.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { remoteHost } from '../docker/index.ts'
import type { ContainerSummary, Docker } from '../docker/index.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { placesOf, sharesHost } from '../addresses/places.ts'
import { isLoopback } from '../platform/hosts.ts'
import { openCurrent } from './current.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

/** Checks that apps don't share a host with the panel: browsers would send them its cookies. */
export async function checkPublishing(config: Config, docker: Docker): Promise<Finding[]> {
  const setting = judgeSetting(config)
  using opened = openCurrent(config)
  if (!opened) return [setting]
  const { db, instanceId } = opened
  const labels = labelFilter(instanceId)
  const signal = AbortSignal.timeout(15_000)
  const running = await docker.listContainers({ labels, signal }).catch(() => [])
  return [setting, ...judgeContainers({ config, db }, running)]
}

function judgeSetting(config: Config) {
  const is = `apps are published on ${config.publishAddress}`
  const remote = remoteHost(config.dockerHost)
  if (remote !== null && isLoopback(config.publishAddress))
    return wrong(
      'apps',
      `${is} of ${remote}, where Docker is, for that machine only`,
      'Set DAVIT_PUBLISH_ADDRESS to an address of that machine.',
    )
  if (!sharesHost(config)) return ok('apps', is)
  return wrong(
    'apps',
    `${is} if an admin owns them, where browsers send them Davit’s cookies too; those of members on ${appsAddress}`,
    'Set DAVIT_URL to an https:// address, or leave DAVIT_PUBLISH_ADDRESS out.',
  )
}

/** A container stays published at the address with which it was created. */
function judgeContainers(deps: { config: Config; db: Db }, running: ContainerSummary[]): Finding[] {
  const stale = running.filter(({ labels, ports }) => {
    const { publishAddress } = placesOf(deps, readLabels(labels).ownerId ?? '')
    const now = [appsAddress, publishAddress, publishAddress === '0.0.0.0' ? '::' : '']
    return ports.some(({ address }) => !now.includes(address))
  })
  if (stale.length === 0) return []
  const names = stale.slice(0, 5).map(({ name, ports }) => `${name} on ${ports[0]!.address}`)
  const some = names.join(', ') + (stale.length > 5 ? ', …' : '')
  return [
    wrong(
      'apps',
      `still published on an old address: ${some}`,
      'Deploy these apps again, and restart these services.',
    ),
  ]
}
