import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { sleepUnlessWoken, sleepUpTo, unlessAborted } from '../platform/pause.ts'
import { placeAuthority } from './certificates.ts'
import type { Caddy, RejectedHost, PageName, Plan, ShareVersion } from './plan.ts'
import { Forwarders } from './forwarders.ts'
import { EdgeNotes, wasOn } from './note.ts'
import { setCertificates, setHosts, setRedirects, sweepHosts } from './hosts.ts'
import { hostsOf } from './rejected-hosts.ts'
import { davitKey, davitSocket, namesPage, pageAddress, pageNames } from './plan.ts'
import { routeAll, routeShare } from './shares.ts'
import type { Addresses, EdgeShare } from './shares.ts'
import type { OtherEdges } from './other-edges.ts'
import { LoadPace } from './load-pace.ts'
import { isEngineAway, isTooLong } from './mode.ts'
import { forgetSlots, keepSlots, makeFolder, readSlots, setSlots } from './slots.ts'
import { drained } from './sockets.ts'

export type Mode = Caddy['mode'] | 'direct'

type EdgeOptions = {
  /** As Davit sees it. */
  folder: string
  /** Null when apps are reached by their own ports. */
  caddy: Caddy | null
  /** True when Caddy only runs while there is something to serve. */
  isOptional: boolean
  /** True when no more apps are deployed behind it: it only serves the ports of existing ones. */
  isEnding?: boolean
  /** Reads from the database what to serve. */
  plan: () => Omit<Plan, 'folder' | 'ports'>
  /** Those of other servers, once there are others. */
  others?: () => Promise<OtherEdges> | null
  /** Makes each workload update its slots, which weren't maintained while there was no edge. */
  fill: () => void
}

/** Milliseconds between two checks of the active configuration, normally and after Caddy stopped serving. */
const interval = 5000
const intervalInTrouble = 1000

/**
 * Keeps a Caddy serving what the database says, whoever stops or changes it, and knows how apps are reached.
 * Without a Caddy, slots cost nothing and do nothing.
 */
export class Edge {
  readonly #given: EdgeOptions
  readonly folder: string
  others: OtherEdges | undefined
  readonly #pace = new LoadPace()
  readonly forwarders = new Forwarders()
  /** Null until the first check. */
  #mode: Mode | null = null
  isKnown = () => this.#mode !== null
  /** In the meantime, by what the last process noted. */
  readonly #assumed: Mode
  #writesSlots: boolean
  #isFilled = false
  #isStopped = false
  #isOver = false
  #trouble: Failure | null = null
  #rejected: RejectedHost[] = []
  #loadedAt: Date | null = null
  readonly #notes = new EdgeNotes()
  #known = Promise.withResolvers<void>()
  #woken = Promise.withResolvers<void>()
  #next = Promise.withResolvers<void>()

  constructor(given: EdgeOptions) {
    this.#given = given
    const { folder, caddy, isEnding } = given
    this.folder = folder
    this.#writesSlots = caddy !== null
    this.#assumed = caddy && !isEnding && wasOn(folder) ? caddy.mode : 'direct'
    if (!caddy) this.#settle('direct')
  }

  /** With `direct`, apps are reached by their own ports. */
  get mode(): Mode {
    return this.#mode ?? this.#assumed
  }

  get isOn() {
    return this.mode !== 'direct'
  }

  /** Why the requested configuration isn't active; null when it is, as far as is known. */
  get trouble() {
    return this.#given.isEnding ? null : this.#trouble
  }

  /** Hosts and ports that aren't served although all others are, each with the reason. */
  get rejected(): readonly RejectedHost[] {
    return this.#rejected
  }

  /** Null while no Caddy serves. */
  get caddy() {
    return this.isOn ? { version: this.#given.caddy!.version, loadedAt: this.#loadedAt } : null
  }

  /** Resolves once it is known how apps are reached. */
  ready({ signal }: { signal: AbortSignal }) {
    return unlessAborted(this.#known.promise, signal)
  }

  /** Checks now: the plan changed, or a port was freed. Resolves after a check that started later, or when none will. */
  sync(): Promise<void> {
    if (!this.#given.caddy || this.#isOver) return Promise.resolve()
    this.#woken.resolve()
    return this.#next.promise
  }

  /** Call it when the state of Caddy's container changed. */
  invalidate() {
    this.#given.caddy?.doubt()
    this.others?.doubt()
    void this.sync()
  }

  /**
   * Routes a key to these addresses (`10.0.0.2:80`) or to a page, atomically, for all of its hosts. `elsewhere`
   * is where other servers reach them, if they do.
   */
  route(key: string, to: Addresses | PageName, elsewhere: Addresses | null = null) {
    const { folder, caddy } = this.#given
    if (!this.#writesSlots) return
    const page: Addresses | null = typeof to === 'string' ? [pageAddress(caddy!.folder, to)] : null
    routeAll(folder, key, page ?? (to as Addresses))
    this.others?.route(key, page ?? elsewhere)
  }

  /** Routes a share of a key's requests to the new version, if the setting has shares: the mode may still be unknown. */
  routeShare(key: string, share: EdgeShare, versions: Record<ShareVersion, Addresses>) {
    const { folder, caddy, isEnding } = this.#given
    if (!this.#writesSlots) return
    if (caddy!.mode !== 'caddy' || isEnding) return this.route(key, versions.before)
    routeShare(folder, key, { share, versions, folderInside: caddy!.folder })
    this.others?.route(key, null)
  }

  /** The upstreams or the page of a key; null when it has no slots. */
  upstreamsOf(key: string): string[] | PageName | null {
    const slots = this.#writesSlots ? readSlots(this.#given.folder, key) : null
    return slots && (pageNames.find((name) => namesPage(slots[0]!, name)) ?? [...new Set(slots)])
  }

  /** The socket on which Davit listens for the edge; null when no Caddy would connect to it. */
  openSocket() {
    const { folder, caddy } = this.#given
    if (caddy?.mode !== 'caddy' || isTooLong(folder)) return null
    makeFolder(folder)
    rmSync(davitSocket(folder), { force: true }) // left by a killed Davit
    return davitSocket(folder)
  }

  forget(key: string) {
    if (!this.#writesSlots) return
    forgetSlots(this.#given.folder, key)
    this.others?.forget(key)
  }

  /** Removes the slots of all keys but these. */
  keep(keys: ReadonlySet<string>) {
    if (!this.#writesSlots) return
    keepSlots(this.#given.folder, keys)
    this.others?.keep(keys)
  }

  /** Waits until Caddy has no connections to these addresses. False when some remain at the timeout. */
  async drained(addresses: string[], options: { seconds: number; signal: AbortSignal }) {
    if (!this.others?.isOn) return !this.#writesSlots || drained(addresses, options)
    await sleep(options.seconds * 1000, undefined, options) // those of other servers can't be seen here
    return false
  }

  /** Checks repeatedly, until the signal. */
  async run({ signal }: { signal: AbortSignal }) {
    if (!this.#given.caddy) return
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers<void>() // before the check: later changes count
      const look = this.#next
      this.#next = Promise.withResolvers<void>()
      const isWell = await this.#lookOnce(this.#given.caddy, signal)
      this.#notes.write(this)
      look.resolve()
      const pause = isWell || this.#mode === 'direct' ? interval : intervalInTrouble
      await sleepUnlessWoken(pause, { signal, wakers: [this.#woken.promise], ref: false })
      const rest = this.#pace.wait()
      if (rest > 0) await sleepUpTo(rest, signal, { ref: false })
    }
    this.#isOver = true
    this.#next.resolve()
  }

  async #lookOnce(caddy: Caddy, signal: AbortSignal) {
    try {
      const { folder, ports, mode } = caddy
      const mayServe = mode === 'caddy' && !this.#given.isEnding
      this.others ??= (await this.#given.others?.()) ?? undefined
      if (this.others?.look({ mayServe })) this.#isFilled = false // they have nothing yet
      const plan = { folder, ports, ...this.#given.plan(), ...this.others?.tokens }
      if (this.#given.isOptional && plan.hosts.length + plan.listeners.length === 0)
        await this.#turnOff(caddy, signal)
      else await this.#putRight(caddy, plan, signal)
      return true
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
      return false
    }
  }

  async #putRight(caddy: Caddy, given: Plan, signal: AbortSignal) {
    const { folder } = this.#given
    makeFolder(folder)
    const { authority, failure } = placeAuthority(folder, given.authority, {
      folderInside: caddy.folder,
    })
    const plan = { ...given, authority }
    await caddy.start(plan, { signal })
    this.#isStopped = false
    if (!this.#isFilled) {
      this.#writesSlots = true
      setSlots(folder, davitKey, [caddy.davit])
      this.#given.fill()
      this.#isFilled = true
    }
    const place = { folderInside: caddy.folder, rejected: hostsOf(this.#rejected) }
    const isWhole = setHosts(folder, plan.hosts, { ...place, isInForce: false })
    setCertificates(folder, plan.authority ? plan.hosts : [])
    const { state, rejected, loadedAt } = await caddy.serve(plan, { signal })
    const names = hostsOf(rejected)
    if (!isWhole || names.length + place.rejected.length > 0)
      setHosts(folder, plan.hosts, { ...place, rejected: names })
    const served = plan.hosts.filter(({ name }) => !names.includes(name))
    setRedirects(folder, served) // only to certificates that exist by now
    if (state === 'in force') sweepHosts(folder, plan.hosts)
    this.others?.serve({ ...plan, hosts: served }, { signal })
    this.#loadedAt = loadedAt
    this.#pace.count(loadedAt)
    this.#rejected = rejected
    this.#say(rejected[0]?.failure ?? failure)
    this.#settle(this.#given.isEnding ? 'direct' : caddy.mode)
  }

  async #turnOff(caddy: Caddy, signal: AbortSignal) {
    this.#emptied()
    this.others?.serve(null, { signal })
    this.#rejected = []
    this.#settle('direct')
    this.#trouble = null
    if (this.#isStopped) return
    try {
      await caddy.stop({ signal })
      this.#isStopped = true
    } catch (error) {
      if (!(error instanceof Failure)) throw error // the next check tries again
    }
  }

  /**
   * A Caddy that has served stays the edge; one that never could isn't waited for. Without the engine this is
   * unknown, and nothing can be deployed either.
   */
  #fail(error: unknown) {
    this.#say(
      error instanceof Failure
        ? error
        : new Failure('edge_failed', String(error), 'See Davit’s own log.', { cause: error }),
    )
    if (this.#mode === null ? isEngineAway(error) : this.isOn) return
    this.#emptied()
    this.#settle('direct')
  }

  /** Slots aren't maintained from now on. */
  #emptied() {
    this.#writesSlots = false
    this.#isFilled = false
  }

  /** Logs a problem once, not every few seconds. */
  #say(trouble: Failure | null) {
    if (trouble && trouble.message !== this.#trouble?.message)
      report('the edge has a problem', trouble.code === 'edge_failed' ? trouble.cause : trouble)
    this.#trouble = trouble
  }

  #settle(mode: Mode) {
    this.#mode = mode
    this.#known.resolve()
  }
}
