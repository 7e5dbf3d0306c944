import { X509Certificate } from 'node:crypto'
import type { Config } from '../config.ts'
import { connectDocker } from '../docker/index.ts'
import type { Docker, EngineInfo } from '../docker/index.ts'
import { labelFilter, labelsFor } from '../docker/labels.ts'
import { image as edgeImage } from '../edge/container.ts'
import { leastFree } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import { openSecrets } from '../platform/secrets.ts'
import { loginOf } from '../servers/server-engines.ts'
import { listServers } from '../servers/store.ts'
import type { Server } from '../servers/store.ts'
import { bytes } from '../web/units.ts'
import { openCurrent } from './current.ts'
import { judgeFaults, swarmFaults } from './engine.ts'
import { dayOf, ok, runCheck, wrong } from './finding.ts'
import type { Finding } from './finding.ts'
import { checkMtu } from './mtu.ts'

/** Milliseconds by which the clocks of two servers may differ. */
const maxDrift = 5000

const day = 86_400_000

const timeoutMs = 15_000

type Options = { connect?: typeof connectDocker }

type Answer = { server: Server; info: EngineInfo; askedAt: number; findings: Finding[] }

/** Each server, and what holds them together. Asks nothing while there is only one. */
export async function checkServers(
  config: Config,
  docker: Docker,
  { connect = connectDocker }: Options = {},
): Promise<Finding[]> {
  using opened = openCurrent(config)
  const [own, ...others] = opened ? listServers(opened.db) : []
  if (!opened || !own || others.length === 0) return []
  const secrets = openSecrets(config)
  const labels = labelsFor({ instanceId: opened.instanceId, kind: 'backup', ownerId: '' })
  const there = others.map(async (server) => {
    const login = loginOf(secrets, server)
    if (!login) return unreadable(server)
    const engine = connect({ host: server.ssh!, serverId: server.id, login })
    return askOne(engine, server, { labels, images: [edgeImage, config.resticImage] })
  })
  const info = await docker.info({ signal: AbortSignal.timeout(timeoutMs) })
  const found = await Promise.all(there)
  const asked = found.flatMap((one) => ('info' in one ? one : []))
  return [
    ...swarmFaults(info.version, own.name),
    ...found.flatMap((one) => ('info' in one ? one.findings : [one])),
    ...judgeVersions([{ server: own, info }, ...asked]),
    ...(await runCheck('swarm', () => checkSwarm(docker, others))),
    ...checkMtu(config.clusterAddress),
    ...(config.overlayEncrypted
      ? await runCheck('encryption', () => checkEncryption(docker, opened.instanceId))
      : []),
  ]
}

const unreadable = ({ name }: Server) =>
  wrong(
    'server',
    `the key of ${name} can’t be read any more`,
    'Remove the server and add it again.',
  )

/** One that doesn’t respond is a finding, and not the end of the others. */
async function askOne(
  docker: Docker,
  server: Server,
  { labels, images }: { labels: Record<string, string>; images: string[] },
): Promise<Answer | Finding> {
  const { name, lastSeenAt } = server
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const info = await docker.info({ signal })
    const askedAt = Date.now()
    const space = await docker.rootSpace({ folder: info.folder, images, labels, signal })
    const drift = Math.abs(info.time.getTime() - askedAt)
    const findings = [
      ok('server', `${name}: Docker ${info.version}, ${bytes(info.memoryBytes)} of memory`),
      ...judgeFaults(info)
        .filter(({ todo }) => todo !== null)
        .map(({ what, is, todo }) => wrong(what, `${name}: ${is}`, todo!)),
      ...swarmFaults(info.version, name),
      drift <= maxDrift
        ? ok('clock', `${name}: the same as here`)
        : wrong(
            'clock',
            `${name}: differs from this server’s by ${Math.round(drift / 1000)} seconds`,
            'Synchronise both by NTP: certificates, logs and the swarm depend on it.',
          ),
      diskOf(name, space),
    ]
    return { server, info, askedAt, findings }
  } catch (error) {
    if (!(error instanceof Failure) && !signal.aborted) throw error
    const since = lastSeenAt ? `away since ${lastSeenAt.toISOString()}` : 'doesn’t respond'
    const why = error instanceof Failure ? error.message : 'no response'
    return wrong(
      'server',
      `${name}: ${since}: ${why}`,
      'Check its power and network, and that its user may use Docker. If it never comes back, remove it under Settings, Servers.',
    )
  }
}

function diskOf(name: string, space: Awaited<ReturnType<Docker['rootSpace']>>) {
  if (!space) return ok('disk', `${name}: unknown, as none of its images has df`)
  const is = `${name}: ${bytes(space.free)} free for Docker in ${space.folder}`
  return space.free >= leastFree(space)
    ? ok('disk', is)
    : wrong('disk', is, 'Free some space, for example under Settings, Clean-up.')
}

function judgeVersions(asked: Pick<Answer, 'server' | 'info'>[]) {
  const byVersion = Map.groupBy(asked, ({ info }) => info.version)
  if (byVersion.size < 2) return []
  const is = [...byVersion]
    .map(([version, own]) => `${version} on ${own.map(({ server }) => server.name).join(', ')}`)
    .join('; ')
  return [
    wrong('versions', `Docker ${is}`, 'Upgrade Docker to the same version everywhere, one by one.'),
  ]
}

/** Members, who decides, and for how long their certificates are valid. */
async function checkSwarm(docker: Docker, others: Server[]): Promise<Finding[]> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { isManager } = await docker.swarmState({ signal })
  if (!isManager)
    return [
      wrong(
        'swarm',
        'Docker on this server manages no swarm, so nothing is placed on the others',
        'If Davit was restored on another machine, remove the other servers and add them again: see /docs/servers.',
      ),
    ]
  const [nodes, swarm] = await Promise.all([
    docker.listNodes({ signal }),
    docker.getSwarm({ signal }),
  ])
  const members = new Map(nodes.map((node) => [node.id, node]))
  return [
    judgeQuorum(nodes),
    ...others.flatMap(({ name, nodeId }) => {
      const node = members.get(nodeId)
      if (node?.isReady) return []
      const is = node ? 'the swarm doesn’t reach it' : 'isn’t a member of this swarm'
      const todo = node
        ? 'Open TCP 2377 at this server, and TCP and UDP 7946 and UDP 4789 between both.'
        : 'Remove the server and add it again.'
      return wrong('swarm', `${name}: ${is}`, todo)
    }),
    judgeAuthority(swarm),
    ...others.flatMap((server) => judgeAbsence(server, swarm)),
  ]
}

function judgeQuorum(nodes: Awaited<ReturnType<Docker['listNodes']>>) {
  const managers = nodes.filter((node) => node.isManager)
  const reachable = managers.filter((node) => node.isReachable).length
  if (managers.length === 1)
    return ok(
      'quorum',
      'one manager, this server: while it is down nothing is deployed, and what runs on others goes on',
    )
  const is = `${reachable} of ${managers.length} managers respond`
  if (managers.length === 2)
    return wrong('quorum', `${is}: the loss of either one stops the swarm`, 'Have one or three.')
  return reachable - 1 > managers.length / 2
    ? ok('quorum', is)
    : wrong('quorum', `${is}: the loss of another one stops the swarm`, 'Bring the others back.')
}

function judgeAuthority({ root, lasts }: { root: string; lasts: number }) {
  const ends = new Date(new X509Certificate(root).validTo)
  const is = `the authority of the swarm is valid until ${dayOf(ends)}, a server’s certificate for ${Math.round(lasts / day)} days`
  return ends.getTime() - Date.now() > 90 * day
    ? ok('certificates', is)
    : wrong('certificates', is, 'Run `docker swarm ca --rotate` on this server.')
}

/** A network stays as it was created, before the setting, too. */
async function checkEncryption(docker: Docker, instanceId: string) {
  const labels = labelFilter(instanceId)
  const all = await docker.listNetworks({ labels, signal: AbortSignal.timeout(timeoutMs) })
  const overlays = all.filter(({ driver }) => driver === 'overlay')
  const plain = overlays.filter(({ isEncrypted }) => !isEncrypted)
  if (plain.length === 0) return [ok('encryption', 'all networks across servers are encrypted')]
  const is = `not of these networks across servers: ${plain.map(({ name }) => name).join(', ')}`
  return [
    wrong('encryption', is, 'Stop what is on each, remove it by `docker network rm`, and deploy.'),
  ]
}

/** A member renews its certificate by itself, but not while it is away. */
function judgeAbsence({ name, lastSeenAt }: Server, { lasts }: { lasts: number }) {
  if (!lastSeenAt) return []
  const ends = new Date(lastSeenAt.getTime() + lasts)
  return ends.getTime() > Date.now()
    ? [ok('certificates', `${name}: can come back until ${dayOf(ends)} at the latest`)]
    : [
        wrong(
          'certificates',
          `${name}: was away for longer than its certificate of the swarm is valid`,
          'Remove the server and add it again.',
        ),
      ]
}
