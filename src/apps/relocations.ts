import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../db/new-id.ts'
import { hasJob, insertJob } from '../jobs/store.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { emit } from '../notifications/emit.ts'
import { getOpen } from '../notifications/store.ts'
import { serverBack, serverDown, serverUnreached } from '../notifications/server-texts.ts'
import type { News } from '../notifications/texts.ts'
import { journal, report } from '../platform/journal.ts'
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

type Absence = { server: Server; looks: number; down: number; told: News | null }

/** Moves apps from servers that are being drained or are lost. Does nothing while all are ready. */
export class Relocations {
  readonly #deps: RelocationDeps
  readonly #interval: number
  readonly #absences = new Map<string, Absence>()
  /** Servers that aren’t away, whose return was told. */
  readonly #present = new Set<string>()
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
      if (wait) await sleep(wait, undefined, { signal: either }).catch(() => {})
    }
    this.#isFollowing = false
  }

  /** Milliseconds until the next look; null when none is needed before something changes. */
  async #look(signal: AbortSignal) {
    const { db, engines } = this.#deps
    const servers = listServers(db)
    for (const [id, { server }] of this.#absences)
      if (!servers.some((one) => one.id === id)) this.#end(server, { isRemoved: true })
    for (const server of servers)
      if (server.state === 'away') await this.#lookAt(server, signal)
      else if (!this.#present.has(server.id)) this.#end(server)
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
    this.#present.delete(id)
    const absence = this.#absences.get(id) ?? { server, looks: 0, down: 0, told: null }
    this.#absences.set(id, absence)
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
    if (isLost) this.#tell(absence, serverDown({ subject: name }))
    else if (absence.looks >= looksUntilTold)
      this.#tell(absence, serverUnreached({ subject: name }))
  }

  /** Once, also where the last process has told it. */
  #tell(absence: Absence, news: News) {
    const { db } = this.#deps
    if (absence.told?.title === news.title) return
    const { id, name } = absence.server
    if (getOpen(db, eventOf(id))?.title !== news.title)
      db.transaction((tx) => emit(tx, { ...at, ...news, subject: name, of: eventOf(id) }))
    absence.told = news
  }

  #end(server: Server, { isRemoved = false } = {}) {
    const { id, name } = server
    const news = serverBack({ subject: name, isRemoved })
    this.#deps.db.transaction((tx) => emit(tx, { ...at, ...news, subject: name, of: eventOf(id) }))
    if (this.#absences.delete(id) && !isRemoved) journal.info('a server is back', { server: name })
    this.#present.add(id)
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

const first = { count: 0, nextAt: 0, isMovable: false }

const at = { href: '/settings/servers' }

const eventOf = (id: string) => `server_away ${id}`
