import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { appsAddress } from '../config.ts'
import type { Config } from '../config.ts'
import { installationIn } from '../db/copy.ts'
import { openExisting } from '../db/index.ts'
import type { Db } from '../db/index.ts'
import type { ContainerSummary, Docker } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { placesOf, sharesHost } from '../projects/places.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'

/** Whether apps stand on a host of their own, where no browser sends them the panel's cookies. */
export async function checkPublishing(config: Config, docker: Docker): Promise<Finding[]> {
  const setting = lookAtSetting(config)
  const opened = openCurrent(join(config.dataDir, 'davit.db'))
  if (!opened) return [setting]
  const { db, instanceId } = opened
  try {
    const labels = labelFilter(instanceId)
    const signal = AbortSignal.timeout(15_000)
    const running = await docker.listContainers({ labels, signal }).catch(() => [])
    return [setting, ...lookAtContainers({ config, db }, running)]
  } finally {
    db.$client.close()
  }
}

function lookAtSetting(config: Config) {
  const is = `apps are published on ${config.publishAddress}`
  if (!sharesHost(config)) return ok('apps', is)
  return wrong(
    'apps',
    `${is} if an admin owns them, where browsers send them the panel’s cookies too; those of members on ${appsAddress}`,
    'Set DAVIT_URL to an https:// address, or leave DAVIT_PUBLISH_ADDRESS out.',
  )
}

/** A container stays where it was published when it was made. */
function lookAtContainers(
  deps: { config: Config; db: Db },
  running: ContainerSummary[],
): Finding[] {
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
      `published before the setting or their owner changed: ${some}`,
      'Deploy these apps again, and start these services again.',
    ),
  ]
}

/** Null where there is no database of this version that can be read; what is wrong is told elsewhere. */
function openCurrent(path: string) {
  try {
    const installation = existsSync(path) ? installationIn(path) : null
    return installation && { db: openExisting(path), instanceId: installation.id }
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
