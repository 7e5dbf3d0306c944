import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { EngineError } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { AppError, conflictField, Failure, invalidField } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { firstServer } from '../platform/root.ts'
import type { ServerEngines } from './server-engines.ts'
import {
  deleteServer,
  factsOf,
  getServer,
  insertServer,
  listServers,
  updateServer,
} from './store.ts'

export type JoinDeps = {
  db: Db
  docker: Docker
  config: Pick<Config, 'clusterAddress'>
  serverEngines: ServerEngines
}

export type Joining = {
  name: string
  address: string
  sshUser: string
  sshPort?: number | null | undefined
  sshKey: string
  hostKey: string
  labels: Record<string, string>
}

/** Milliseconds until a member that joined must be ready, and those between two looks. */
const readyWithin = 10_000
const lookEvery = 250

const openPorts =
  'Check that ports 2377 (TCP), 7946 (TCP and UDP) and 4789 (UDP) are open between both servers.'

/** Seconds by which two clocks may differ: certificates and logs depend on them. */
const clockTolerance = 30

/** The first version whose Swarm has no known fault that Davit would meet. */
const oldestDocker = 25

export const whyNoServers = ({ clusterAddress }: Pick<Config, 'clusterAddress'>) =>
  clusterAddress
    ? null
    : 'A second server helps when memory or processors of this one aren’t enough. To add one, set DAVIT_CLUSTER_ADDRESS to the address at which it reaches this one, and restart Davit.'

/** Lets a server join over ssh. All checks come before the first change; what fails later is undone. */
export async function joinServer(deps: JoinDeps, joining: Joining, signal: AbortSignal) {
  const { db, docker, config, serverEngines } = deps
  const off = whyNoServers(config)
  if (off) throw new AppError('conflict', off)
  using _ = await serverEngines.turn.acquire(signal)
  const { name, address, labels, sshUser, sshPort, sshKey, hostKey } = joining
  const own = await docker.swarmState({ signal })
  refuseKnown(deps, joining, own.hostname)
  const id = newId()
  const ssh = `ssh://${sshUser}@${address}:${sshPort ?? 22}`
  const login = { privateKey: sshKey, hostKey: hostKey.split(' ')[1] ?? '' }
  const there = serverEngines.connectTo({ host: ssh, serverId: id, login })
  const info = await examine(deps, { there, own }, signal)

  // from here on the visitor's leaving changes nothing: it ends joined, or undone
  const undo = new AsyncDisposableStack()
  try {
    const swarm = await ensureSwarm(deps, own, undo)
    undo.defer(() => there.leaveSwarm())
    const token = await docker.workerToken()
    await there.joinSwarm({ address, manager: swarm.address, token })
    const { nodeId } = await there.swarmState()
    undo.defer(async () => void (await docker.removeNode(nodeId)))
    await untilReady(docker, nodeId)
    const row = { ...factsOf(info), nodeId, id, name, address, labels, ssh, hostKey: login.hostKey }
    const privateKey = serverEngines.seal(id, sshKey)
    serverEngines.open(insertServer(db, { ...row, privateKey, lastSeenAt: new Date() }))
    return id
  } catch (error) {
    await undo.disposeAsync().catch((left) => report('a failed join was not undone', left))
    if (!(error instanceof EngineError)) throw error
    throw new AppError(
      'conflict',
      `The swarm refused the server, and nothing was changed: ${error.message} ${openPorts}`,
    )
  }
}

type SwarmState = Awaited<ReturnType<Docker['swarmState']>>

function refuseKnown({ db, config }: JoinDeps, { name, address }: Joining, hostname: string) {
  const others = listServers(db)
  if ([hostname, ...others.map((one) => one.name)].includes(name))
    throw conflictField('name', 'There is a server of that name.')
  if ([config.clusterAddress, ...others.map((one) => one.address)].includes(address))
    throw conflictField('address', 'There is a server at that address.')
}

/** Throws for what would not work, before anything is changed there. */
async function examine(
  { db, docker }: JoinDeps,
  { there, own }: { there: Docker; own: SwarmState },
  signal: AbortSignal,
) {
  if (own.isMember && !own.isManager)
    throw new AppError('conflict', 'Davit’s own Docker is in a swarm that it doesn’t manage.')
  if (own.hasLiveRestore)
    throw new AppError(
      'conflict',
      'Docker on Davit’s own server has live-restore, which a swarm excludes. Remove it from daemon.json.',
    )
  const state = await there.swarmState({ signal }).catch((error) => {
    throw refusalOf(error)
  })
  const [info, machine] = await Promise.all([there.info({ signal }), docker.machine({ signal })])
  const refuse = (why: string) => {
    throw invalidField('address', why)
  }
  if (state.engineId === own.engineId)
    refuse('leads to the Docker that Davit itself uses, or to a copy of it.')
  if (Number.parseInt(info.version) < oldestDocker)
    refuse(`has Docker ${info.version}, but needs ${oldestDocker} or newer.`)
  if (info.rootless) refuse('has a rootless Docker, which can’t join.')
  if (info.arch !== machine.arch)
    refuse(
      `is a machine of ${info.arch}, which can’t run images that are built here for ${machine.arch}.`,
    )
  if (!state.hasOverlay) refuse('has a Docker without overlay networks.')
  if (state.hasLiveRestore)
    refuse('has live-restore in Docker’s daemon.json, which a swarm excludes.')
  const apart = Math.abs(info.time.getTime() - Date.now()) / 1000
  if (apart > clockTolerance)
    refuse(
      `has a clock that differs by ${Math.round(apart)} s. Let both servers get the time (NTP).`,
    )
  if (state.isMember) {
    const known = listServers(db).find(({ nodeId }) => nodeId === state.nodeId)
    if (known) refuse(`leads to the server ${known.name}, which has joined.`)
    // one that no row has, in a swarm that only Davit lets others into: it was killed while that one joined
    const isOurs = own.isManager && getServer(db, firstServer)?.hasBegunSwarm
    const isLeft = isOurs && (await docker.getNode(state.nodeId, { signal }))
    if (!isLeft) refuse('is in a swarm already. Run `docker swarm leave` there first.')
    await there.leaveSwarm()
    await docker.removeNode(state.nodeId)
  }
  return info
}

/** By the field that is at fault. */
function refusalOf(error: unknown) {
  if (!(error instanceof Failure)) return error
  const said = String((error.cause as Error | undefined)?.message ?? '')
  if (/host denied/i.test(said))
    return invalidField('hostKey', 'isn’t the key that the server shows.')
  if (/parse privateKey/i.test(said))
    return invalidField('sshKey', 'can’t be read, or has a passphrase.')
  if (/authentication methods failed/i.test(said))
    return invalidField('sshKey', 'isn’t accepted there for this user.')
  return invalidField(
    'address',
    `${error.message} The user must be able to run \`docker version\` there.`,
  )
}

/** The swarm of Davit’s own server, which is begun with the first other one. */
async function ensureSwarm(
  { db, docker, config }: JoinDeps,
  own: SwarmState,
  undo: AsyncDisposableStack,
) {
  const hasBegunSwarm = !own.isMember
  if (hasBegunSwarm) {
    await docker.beginSwarm({ address: config.clusterAddress! })
    undo.defer(() => docker.leaveSwarm())
  }
  const { nodeId, hostname, address } = hasBegunSwarm ? await docker.swarmState() : own
  if (!getServer(db, firstServer)) {
    const row = { id: firstServer, name: hostname, address: config.clusterAddress! }
    insertServer(db, { ...row, ...factsOf(await docker.info()), nodeId, hasBegunSwarm })
    undo.defer(async () => void deleteServer(db, firstServer))
  } else if (hasBegunSwarm) updateServer(db, firstServer, { nodeId, hasBegunSwarm })
  return { address }
}

async function untilReady(docker: Docker, nodeId: string) {
  const deadline = performance.now() + readyWithin
  while (!(await docker.getNode(nodeId))?.isReady) {
    if (performance.now() > deadline)
      throw new AppError(
        'conflict',
        `The server joined, but isn’t ready after 10 s, so it left again. ${openPorts}`,
      )
    await sleep(lookEvery)
  }
}
