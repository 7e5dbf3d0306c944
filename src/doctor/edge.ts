import { join } from 'node:path'
import type { Config } from '../config.ts'
import { isLocked } from '../db/instance-lock.ts'
import type { Docker } from '../docker/index.ts'
import { adminOf } from '../edge/caddy.ts'
import { connectAdmin } from '../edge/admin.ts'
import { image } from '../edge/container.ts'
import { readNote } from '../edge/note.ts'
import { refusedApart, refusedHere } from '../edge/mode.ts'
import { adminSocket } from '../edge/plan.ts'
import { edgeEngine } from '../runtime/edge-container.ts'
import { readPlan } from './current.ts'
import { ok, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { holderOf } from './port.ts'

/** Proxies, and hosts of each, that are listed. */
const maxProxies = 10

/** Finds proxies that aren't trusted, so that they count as the visitor. */
export function checkProxies({ dataDir }: Pick<Config, 'dataDir'>): Finding[] {
  const { forwarders = [] } = (isLocked(dataDir) ? readNote(join(dataDir, 'edge')) : null) ?? {}
  return [...Map.groupBy(forwarders, ({ address }) => address)]
    .slice(0, maxProxies)
    .map(([address, of]) =>
      wrong(
        'proxies',
        `most requests for ${of
          .map(({ host }) => host)
          .slice(0, maxProxies)
          .join(
            ', ',
          )} come through a proxy at ${address} that isn’t trusted, so it counts as the visitor`,
        'Add the addresses of your proxy to DAVIT_TRUSTED_PROXIES and restart Davit. If it isn’t yours, nothing is wrong.',
      ),
    )
}

/** Reports what serves domains, or why they aren't served. */
export async function checkEdge(config: Config, docker: Docker): Promise<Finding[]> {
  const { edge, dataDir } = config
  if (edge === 'direct') return [judgeNoEdge(config)]
  const note = isLocked(dataDir) ? readNote(join(dataDir, 'edge')) : null
  const troubles = (note?.troubles ?? []).map(({ message, hint }) => wrong('edge', message, hint))
  if (note && note.mode !== 'direct' && troubles.length > 0) return troubles
  if (edge === 'external') return [await judgeForeignCaddy(config, docker)]
  return [await judgeOwnCaddy(config, docker)]
}

function judgeNoEdge(config: Config) {
  if ((readPlan(config)?.listeners ?? []).length === 0)
    return ok('edge', 'off: apps are reached by their ports')
  return wrong(
    'edge',
    'off, but apps that were deployed behind Caddy are still reached through it',
    'Deploy each of them again; Caddy stops after the last one.',
  )
}

async function judgeForeignCaddy({ edgeAdmin }: Config, docker: Docker) {
  const signal = AbortSignal.timeout(15_000)
  const apart = await docker.whyApart({ signal })
  if (apart) throw refusedApart(apart)
  await connectAdmin(adminOf(edgeAdmin!)).read('id/davit', { signal })
  return ok('edge', `your Caddy responds at ${edgeAdmin}`)
}

async function judgeOwnCaddy(config: Config, docker: Docker) {
  const { dataDir, edgePorts: ports } = config
  const folder = join(dataDir, 'edge')
  const plan = readPlan(config)
  const instanceId = plan?.instanceId ?? 'none'
  const isNeeded = plan ? plan.hosts.length + plan.listeners.length > 0 : config.domain !== null
  const signal = AbortSignal.timeout(15_000)
  const here = await edgeEngine({ docker, instanceId }).look({ signal })
  const refusal = await refusedHere({
    ...here,
    ...{ folder, ports },
    holderOf: (port) => holderOf(docker, port),
  })
  const isNow = isNeeded || config.edge === 'caddy'
  if (refusal)
    return isNow
      ? wrong('edge', refusal.message, refusal.hint)
      : ok('edge', `off, and no domain needs it. ${refusal.message}`)
  const place = `ports ${ports.http} and ${ports.https}`
  if (here.isRunning) {
    await connectAdmin({ socket: adminSocket(folder) }).read('id/davit', { signal })
    return ok('edge', `Caddy serves on ${place}`)
  }
  const from = here.hasImage ? `the image ${image} is available` : `${image} will be pulled`
  return isNow && isLocked(dataDir)
    ? wrong('edge', 'Caddy isn’t running', 'See Davit’s log; Davit restarts Caddy by itself.')
    : ok(
        'edge',
        `Caddy starts with ${isNow ? 'Davit' : 'the first domain'}: ${place} are free, ${from}`,
      )
}
