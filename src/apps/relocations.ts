import { newId } from '../db/new-id.ts'
import { hasJob, insertJob } from '../jobs/store.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { emit } from '../notifications/emit.ts'
import { getOpen, listOpenOf } from '../notifications/store.ts'
import type { News } from '../notifications/texts.ts'
import { journal, report } from '../platform/journal.ts'
import { sleepUpTo } from '../platform/pause.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import { listWorkloadsOn } from '../runtime/routing-store.ts'
import type { ServerEngines } from '../servers/server-engines.ts'
import { listServers } from '../servers/store.ts'
import type { Server } from '../servers/store.ts'
import { findResident } from './relocation.ts'

type RelocationDeps = RuntimeDeps & {
  serverEngines: Pick<ServerEngines, 'changes'>
  jobs: Pick<Jobs, 'wake'>
}

/** Milliseconds between two looks at servers that are away or being drained; longer after a minute. */
const usualInterval = 1000
const longInterval = 10_000
const manyLooks = 60

/** Looks in a row at which the swarm must call a server down, which takes it 9 to 20 s to find out. */
const looksUntilLost = 2

/** Looks at one that Davit can't reach, before that is told. */
const looksUntilTold = 30

/** How often an app is moved until servers change, and milliseconds after the first time, then twice as many. */
const maxTries = 5
const retryDelay = 10_000

type Absence = { looks: number; down: number }

/** Moves apps from servers that are being drained or are lost. Does nothing while all are ready. */
export class Relocations {
  readonly #deps: RelocationDeps
  readonly #interval: number
  readonly #absences = new Map<string, Absence>()
  readonly #tries = new Map<string, typeof first>()
  #isFollowing = false
  #hasNews = false
  #pause = new AbortController()

  constructor(deps: RelocationDeps, { interval = usualInterval } = {}) {
    this.#deps = deps
    this.#interval = interval
  }

  async run({ signal }: { signal: AbortSignal }) {
    let following: Promise<void> | undefined
    for await (const _ of this.#deps.serverEngines.changes(signal)) {
      this.#tries.clear()
      this.#hasNews = true
      this.#pause.abort()
      if (!this.#isFollowing) following = this.#follow(signal)
    }
    await following
  }

  async #follow(signal: AbortSignal) {
    this.#isFollowing = true
    let wait: number | null = 0
    while (wait !== null && !signal.aborted) {
      this.#hasNews = false
      wait = await this.#look(signal).catch((error) => {
        if (!signal.aborted) report('apps could not be moved from a server', error)
        return longInterval
      })
      if (this.#hasNews) wait = 0
      this.#pause = new AbortController()
      const either = AbortSignal.any([signal, this.#pause.signal])
      if (wait) await sleepUpTo(wait, either)
    }
    this.#isFollowing = false
  }

  /** Milliseconds until the next look; null when none is needed before something changes. */
  async #look(signal: AbortSignal) {
    const { db, engines } = this.#deps
    const servers = listServers(db)
    const away = new Map(servers.filter(isAway).map((one) => [one.id, one]))
    for (const id of this.#absences.keys()) if (!away.has(id)) this.#absences.delete(id)
    for (const { of, subject, kind } of listOpenOf(db, [eventOf(''), 'disk_low '])) {
      const server = servers.find(({ id }) => of!.endsWith(id))
      if (server && (kind === 'disk_low' || isAway(server))) continue
      const { serverBack } = await texts()
      this.#tell(of!, subject, { ...serverBack({ subject, isRemoved: !server }), kind })
      if (server) journal.info('a server is back', { server: server.name })
    }
    for (const server of away.values()) await this.#lookAt(server, signal)
    let isMoving = false
    for (const server of servers)
      if (engines.isLost({ serverId: server.id }) || (server.state === 'draining' && server.nodeId))
        isMoving = (await this.#empty(server)) || isMoving
    const absent = [...this.#absences.values()]
    const isOpen = ({ looks, down }: Absence) => looks < manyLooks || down === 1
    if (isMoving || absent.some(isOpen)) return this.#interval
    return absent.length > 0 ? longInterval : null
  }

  /** No one is lost by Davit’s word alone: the swarm decides. */
  async #lookAt(server: Server, signal: AbortSignal) {
    const { docker, engines } = this.#deps
    const { id, name, nodeId } = server
    const serverId = id
    const absence = this.#absences.getOrInsertComputed(id, () => ({ looks: 0, down: 0 }))
    const node = nodeId ? await docker.getNode(nodeId, { signal }).catch(() => undefined) : null
    absence.looks++
    if (node !== undefined) absence.down = node?.isDown ? absence.down + 1 : 0 // else it didn’t say
    const isLost = absence.down >= looksUntilLost && engines.isAway({ serverId })
    if (isLost !== engines.isLost({ serverId })) {
      engines.setLost({ serverId }, isLost)
      journal.warn(isLost ? 'a server is down' : 'a server runs, but can’t be reached', {
        server: name,
      })
    }
    const isTold = isLost || absence.looks >= looksUntilTold
    const { serverDown, serverUnreached } = await texts()
    const news = isLost ? serverDown({ subject: name }) : serverUnreached({ subject: name })
    if (isTold && getOpen(this.#deps.db, eventOf(id))?.title !== news.title)
      this.#tell(eventOf(id), name, news)
  }

  #tell(of: string, subject: string, news: News) {
    this.#deps.db.transaction((tx) => emit(tx, { ...at, ...news, subject, of }))
  }

  /** Begins what moves from a server. Returns false when nothing more is to be done. */
  async #empty(server: Server) {
    const { db, jobs } = this.#deps
    let isMoving = false
    for (const { id } of listWorkloadsOn(db, server.id)) {
      if (hasJob(db, id)) {
        isMoving = true
        continue
      }
      const { count, nextAt, isMovable } = this.#tries.get(id) ?? first
      if (performance.now() < nextAt) {
        isMoving ||= isMovable
        continue
      }
      if (count === maxTries) continue
      const resident = await findResident(this.#deps, server, id)
      const next = performance.now() + retryDelay * 2 ** count
      if (!resident || resident.stays) {
        this.#tries.set(id, { count, nextAt: next, isMovable: false })
        continue
      }
      this.#tries.set(id, { count: count + 1, nextAt: next, isMovable: true })
      isMoving = true
      const { ownerId } = resident
      insertJob(db, { id: newId(), kind: 'relocate-app', subjectId: id, ownerId, slot: 'move' })
      jobs.wake()
    }
    return isMoving
  }
}

/** Rarely needed. */
const texts = () => import('../notifications/server-texts.ts')

const isAway = ({ state }: Server) => state === 'away'

const first = { count: 0, nextAt: 0, isMovable: false }

const at = { href: '/settings/servers' }

const eventOf = (id: string) => `server_away ${id}`
