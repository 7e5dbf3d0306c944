import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { connectDocker } from '../docker/index.ts'
import { labelsFor } from '../docker/labels.ts'
import { image as edgeImage } from '../edge/container.ts'
import type { Docker, EngineFeed, Engines, OnServer } from '../docker/index.ts'
import { Hub } from '../live/hub.ts'
import { spaceOf } from '../platform/disk-space.ts'
import type { DiskSpace } from '../platform/disk-space.ts'
import { journal, report } from '../platform/journal.ts'
import { untilBeat } from '../platform/pause.ts'
import { firstServer } from '../platform/root.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { Secrets } from '../platform/secrets.ts'
import { deleteServer, factsOf, getServer, listServers, updateServer } from './store.ts'
import type { Server } from './store.ts'

type ServersDeps = {
  db: Db
  secrets: Secrets
  engines: Engines
  instanceId: string
  config: Pick<Config, 'clusterAddress' | 'resticImage'>
  /** One went away, or came back. */
  changed: (server: OnServer) => void
  connect: typeof connectDocker
}

const sealedFor = (id: string) => `server ${id} key`

/** Null for Davit’s own server, and for one whose key can’t be read. */
export function loginOf(
  secrets: Pick<Secrets, 'open'>,
  { id, ssh, hostKey, privateKey }: Pick<Server, 'id' | 'ssh' | 'hostKey' | 'privateKey'>,
) {
  if (!ssh || !hostKey || !privateKey) return null
  try {
    return { hostKey, privateKey: secrets.open(privateKey, sealedFor(id)) }
  } catch {
    return null
  }
}

/** Milliseconds between logins at a server that is away: refused ones in quick succession get an address banned. */
const maxDelay = 30_000

/** Milliseconds between two measurements of a disk, for which a container runs there. */
const period = 3_600_000

/** The other servers, from the database to their engines. */
export class ServerEngines {
  readonly #deps: ServersDeps
  /** One joins or leaves at a time: the first begins the swarm, and the last ends it. */
  readonly turn = new Semaphore(1)
  /** The disks with the data of each Docker; missing while unknown. */
  readonly disks = new Map<string, DiskSpace>()
  /** In the swarm of Davit’s own server. Davit adds none: an admin may have promoted a member. */
  managers = 0
  readonly #changes = new Hub<true>()

  constructor(deps: ServersDeps) {
    this.#deps = deps
    for (const server of listServers(deps.db)) this.open(server)
  }

  /** For the column `privateKey`. */
  seal(id: string, privateKey: string) {
    return this.#deps.secrets.seal(privateKey, sealedFor(id))
  }

  /** What runs on it is watched from now on. One whose key can’t be read stays away. */
  open(server: Server) {
    const login = loginOf(this.#deps.secrets, server)
    if (login)
      this.#deps.engines.add(this.connectTo({ host: server.ssh!, serverId: server.id, login }))
    else if (server.ssh) {
      journal.warn('the key of a server can no longer be read', { server: server.name })
      this.#setAway(server.id, true)
    }
  }

  /** Yields at once, and whenever a server went away, came back, or is to be drained or not. */
  changes(signal: AbortSignal) {
    return this.#changes.newest('all', signal, true)
  }

  publishChange() {
    this.#changes.publish('all', true)
  }

  connectTo(options: Parameters<typeof connectDocker>[0]) {
    return this.#deps.connect(options)
  }

  /** Nothing is asked of it any more. What runs there goes on. */
  remove({ id }: Pick<Server, 'id'>) {
    deleteServer(this.#deps.db, id)
    this.#deps.engines.remove({ serverId: id })
    this.disks.delete(id)
    this.publishChange()
  }

  /** Passes an engine’s events on, and notes whether its server can be reached. */
  watch(feed: EngineFeed, docker: Docker, { signal }: { signal: AbortSignal }) {
    const { serverId } = docker
    const changed = (isOpen: boolean) => {
      if (serverId !== firstServer) this.#setAway(serverId, !isOpen)
      if (isOpen) void this.#measure(docker, signal)
    }
    if (serverId === firstServer) return feed.run(docker, { signal, changed })
    return feed.run(docker, { signal, changed, maxDelay })
  }

  #setAway(serverId: string, isAway: boolean) {
    const { db, engines, changed } = this.#deps
    const isNews = engines.isAway({ serverId }) !== isAway
    engines.setAway({ serverId }, isAway)
    try {
      changed({ serverId })
      const known = getServer(db, serverId)
      if (known && (known.state === 'away') !== isAway)
        updateServer(db, serverId, { lastSeenAt: isAway ? new Date() : null })
    } catch (error) {
      if (!isAway) throw error // the feed connects again
      report('that a server is away could not be stored', error) // until the next try to connect
    }
    if (isNews) this.publishChange()
  }

  /** Measures the disks of all again and again, while there are several. */
  keepMeasured(scheduler: Scheduler, { signal }: { signal: AbortSignal }) {
    const { engines } = this.#deps
    const run = () =>
      Promise.all(
        engines.all
          .filter((docker) => !engines.isAway(docker))
          .map((docker) => this.#measure(docker, signal)),
      )
    const next = (now: number) => now + untilBeat(period, now)
    return scheduler.keep({ next, run, failed: 'servers were not measured' }, { signal })
  }

  /** After a restore on another machine, the others aren’t in the swarm of Davit’s own server, if it has one. */
  async #noteSwarm(docker: Docker, signal: AbortSignal) {
    const { db, config } = this.#deps
    const { hostname, nodeId, isMember, isManager } = await docker.swarmState({ signal })
    // without a quorum it says nothing: then they are as many as before
    const nodes = isManager ? await docker.listNodes({ signal }).catch(() => null) : []
    if (nodes) this.managers = nodes.filter((node) => node.isManager).length
    const [own, ...others] = listServers(db)
    if (own!.nodeId === nodeId || (isMember && !nodeId)) return
    const name = others.some((one) => one.name === hostname) ? own!.name : hostname
    const address = config.clusterAddress ?? own!.address
    db.transaction((tx) => {
      updateServer(tx, firstServer, { name, address, nodeId, hasBegunSwarm: false })
      for (const { id } of others) updateServer(tx, id, { nodeId: '', isDraining: true })
    })
    journal.warn(
      'the other servers aren’t in the swarm of this one: remove them and add them again',
    )
  }

  /** Its Docker may have been upgraded, and its memory changed, while it was away. */
  async #measure(docker: Docker, signal: AbortSignal) {
    const { db, instanceId, config } = this.#deps
    const { serverId, remote } = docker
    if (!getServer(db, serverId)) return // the only one
    try {
      const info = await docker.info({ signal })
      updateServer(db, serverId, factsOf(info))
      if (serverId === firstServer) await this.#noteSwarm(docker, signal)
      const { folder } = info
      const labels = labelsFor({ instanceId, kind: 'backup', ownerId: '' })
      const images = [edgeImage, config.resticImage]
      const options = { folder, images, labels, signal }
      const space = await (remote ? docker.rootSpace(options) : spaceOf(folder))
      if (space) this.disks.set(serverId, space)
      else this.disks.delete(serverId)
    } catch (error) {
      if (!signal.aborted) report('a server could not be measured', error)
    }
  }
}
