import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { Tx } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { EngineError } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { AppError, conflictField, Failure, invalidField } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import type { createForm } from './form.ts'
import { isManagedAt, whyApart, whyOtherMachine, whyUnfit } from './judge.ts'
import { factsOf, insertServer, listServers } from './store.ts'
import { ensureSwarm, isOurs } from './swarm.ts'
import type { SwarmDeps, SwarmState } from './swarm.ts'

export type Joining = Pick<z.output<typeof createForm>, 'name' | 'roles' | 'labels' | 'sshPort'> &
  Record<'address' | 'sshUser' | 'sshKey' | 'hostKey', string>

/** Milliseconds until a member that joined must be ready, and those between two looks. */
const readyWithin = 10_000
const lookEvery = 250

const openPorts =
  'Check that ports 2377 (TCP), 7946 (TCP and UDP) and 4789 (UDP) are open between both servers.'

export const whyNoServers = ({ clusterAddress }: Pick<Config, 'clusterAddress'>) =>
  clusterAddress
    ? null
    : 'A second server helps when memory or processors of this one aren’t enough. To add one, set DAVIT_CLUSTER_ADDRESS to the address at which it reaches this one, and restart Davit.'

/**
 * Lets a server join over ssh. All checks come before the first change; what fails later is undone. `stored`
 * is called in the transaction that stores it.
 */
export async function joinServer(
  deps: SwarmDeps,
  joining: Joining,
  { signal, stored }: { signal: AbortSignal; stored?: (tx: Tx) => void },
) {
  const { db, docker, config, serverEngines } = deps
  const off = whyNoServers(config)
  if (off) throw new AppError('conflict', off)
  using _ = await serverEngines.turn.acquire(signal)
  const { name, address, roles, labels, sshUser, sshPort, sshKey, hostKey } = joining
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
    const { workerToken: token } = await docker.getSwarm()
    await there.joinSwarm({ address, manager: swarm.address, token })
    const { nodeId } = await there.swarmState()
    undo.defer(async () => void (await docker.removeNode(nodeId)))
    await untilReady(docker, nodeId)
    const row = {
      ...factsOf(info),
      nodeId,
      id,
      name,
      address,
      roles,
      labels,
      ssh,
      hostKey: login.hostKey,
    }
    const privateKey = serverEngines.seal(id, sshKey)
    const server = db.transaction((tx) => {
      stored?.(tx)
      return insertServer(tx, { ...row, privateKey, lastSeenAt: new Date() })
    })
    serverEngines.open(server)
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

type Named = { name: string; address: string | null }

/** Throws for a name or an address that another server has. */
export function refuseKnown({ db, config }: SwarmDeps, { name, address }: Named, hostname: string) {
  const others = listServers(db)
  if ([hostname, ...others.map((one) => one.name)].includes(name))
    throw conflictField('name', 'There is a server of that name.')
  if (address && [config.clusterAddress, ...others.map((one) => one.address)].includes(address))
    throw conflictField('address', 'There is a server at that address.')
}

/** Throws for what would not work, before anything is changed there. */
async function examine(
  deps: SwarmDeps,
  { there, own }: { there: Docker; own: SwarmState },
  signal: AbortSignal,
) {
  const { db, docker, config } = deps
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
  const [unfit] = whyUnfit({ info, state })
  const why = unfit ?? whyOtherMachine(info.arch, machine.arch) ?? whyApart(info.time)
  if (why) refuse(why)
  if (state.isMember) {
    const known = listServers(db).find(({ nodeId }) => nodeId === state.nodeId)
    if (known) refuse(`leads to the server ${known.name}, which has joined.`)
    // Davit was killed while that one joined; its next start ends a swarm that no other server is in
    const isLeft =
      isManagedAt(config.clusterAddress!, state) && (!own.isMember || (await isOurs(deps, own)))
    if (!isLeft) refuse('is in a swarm already. Run `docker swarm leave` there first.')
    await there.leaveSwarm()
    if (own.isMember) await docker.removeNode(state.nodeId)
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
