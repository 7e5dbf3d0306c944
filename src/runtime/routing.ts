import type { Db } from '../db/index.ts'
import type { Engines, OnServer } from '../docker/index.ts'
import type { Edge } from '../edge/edge.ts'
import type { PageName } from '../edge/plan.ts'
import type { Addresses } from '../edge/shares.ts'
import { getJobOf } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import { Failure } from '../platform/errors.ts'
import { firstServer } from '../platform/root.ts'
import { publishedAt } from './endpoint-store.ts'
import {
  isKept,
  listEnvironmentIds,
  listNamedServiceIds,
  listPlaces,
  listServiceDomains,
  listWorkloadsOn,
  reachedAt,
} from './routing-store.ts'
import type { InstanceAddress } from './routing-store.ts'
import {
  getInstance,
  getLiveRelease,
  getShare,
  goesBackOnCrash,
  isGoingBack,
  isOfLive,
  isRollingOut,
  updateInstance,
} from './store.ts'
import type { Instance, InstanceState } from './store.ts'
import type { WorkloadKey } from './workload.ts'

type RoutingDeps = {
  db: Db
  engines: Pick<Engines, 'isAway'>
  edge: Pick<Edge, 'isOn' | 'others' | 'route' | 'routeShare' | 'keep' | 'forget'>
}

/** Older entries are dropped: outdated events are only seconds old. */
const mostRemembered = 10_000

/** Decides which instances get requests, and makes the edge send them there. */
export class Routing {
  readonly #db: Db
  readonly #engines: RoutingDeps['engines']
  readonly #edge: RoutingDeps['edge']
  /** Keys that this process has routed. */
  #routed = new Set<string>()
  /** Keys without an owner whose hosts may still be active. */
  #leaving: string[] = []
  /** Milliseconds at which each instance was last found healthy; the latest entry is last. */
  readonly #wellSince = new Map<string, number>()
  /** Instances of releases before that ended while they had a share of the requests. */
  readonly #ended = new Set<string>()

  constructor({ db, engines, edge }: RoutingDeps) {
    this.#db = db
    this.#engines = engines
    this.#edge = edge
  }

  /**
   * Routes the domains of a workload to its healthy instances, atomically, or to the page that says why there
   * are none. Depends only on stored state, so that it can be repeated.
   */
  route(workload: WorkloadKey) {
    const { id, kind } = workload
    const places = listPlaces(this.#db, workload)
    const serving = places.filter(isOfLive)
    if (kind === 'app') {
      if (!this.#routeBack(id, places) && !this.#routeShare(id, places))
        this.#routeKey(workload, id, serving)
    } else
      for (const { id: key, component, ...at } of listServiceDomains(this.#db, id)) {
        const reached = serving.filter((place) => place.component === component)
        this.#routeKey(
          workload,
          key,
          reached.map((place) => reachedAt(this.#db, place, at)),
        )
      }
  }

  #routeKey(workload: WorkloadKey, key: string, places: InstanceAddress[]) {
    const reached = this.#reached(places, 'live')
    const [first, ...others] = reached.map(addressOf)
    // the version before takes over within milliseconds: until then visitors wait for a connection, and see no page
    if (!first && isKept(this.#db, workload.id) && goesBackOnCrash(this.#db, workload.id)) return
    if (!first) this.#edge.route(key, pageFor(this.#db, workload, places))
    else this.#edge.route(key, [first, ...others], this.#elsewhere(workload, reached))
  }

  /** Also before that decision is stored, which a busy disk delays: call it in the same turn. Returns false if none runs. */
  routeBack(id: string) {
    return this.#routeStandby(id, listPlaces(this.#db, { id, kind: 'app' }))
  }

  /** As soon as it is decided, also while other work on the containers goes on. Returns false otherwise. */
  #routeBack(id: string, places: InstanceAddress[]) {
    return isGoingBack(this.#db, id) && this.#routeStandby(id, places)
  }

  #routeStandby(id: string, places: InstanceAddress[]) {
    if (!isKept(this.#db, id)) return false
    const reached = this.#reached(places, 'standby')
    const [first, ...others] = reached.map(addressOf)
    if (first) this.#edge.route(id, [first, ...others], this.#elsewhere({ kind: 'app' }, reached))
    return first !== undefined
  }

  /**
   * Routes a share of the requests to the live release, and the others to the one before; all to one of them
   * while the other isn't reached. Returns false without a share, of which nothing is remembered then.
   */
  #routeShare(id: string, places: InstanceAddress[]) {
    const share = getShare(this.#db, id)
    if (!share || !isKept(this.#db, id)) {
      for (const place of places) this.#ended.delete(place.id)
      return false
    }
    const current = this.#reached(places, 'live').map(addressOf)
    const before = this.#reached(places, 'standby').map(addressOf)
    const [first, ...others] = before.length > 0 ? before : current
    if (!first) return false
    const or = ([own, ...more]: string[]): Addresses => (own ? [own, ...more] : [first, ...others])
    // the version that answers is the one that is logged
    const percent = before.length === 0 ? 100 : current.length === 0 ? 0 : share.percent
    this.#edge.routeShare(id, { ...share, percent }, { new: or(current), before: or(before) })
    return true
  }

  /** Of those in this state that haven't ended; not on servers that are away, as long as others are left. */
  #reached(places: InstanceAddress[], wanted: InstanceState) {
    const all = places.filter(
      (place) =>
        place.state === wanted && place.address && place.port && !this.#ended.has(place.id),
    )
    const there = all.filter((place) => !this.#engines.isAway(place))
    return there.length > 0 ? there : all
  }

  /** Where edges of other servers reach them; null when they can't reach each, and so ask Davit's own. */
  #elsewhere({ kind }: Pick<WorkloadKey, 'kind'>, places: InstanceAddress[]): Addresses | null {
    if (!this.#edge.others?.isOn) return null
    const publishedOf = (place: InstanceAddress) => {
      if (place.serverId !== firstServer) return place
      return kind === 'app' ? publishedAt(this.#db, place) : null
    }
    const published = places.map(publishedOf)
    const [first, ...others] = published.flatMap((at) => (at ? addressOf(at) : []))
    return first && published.every(Boolean) ? [first, ...others] : null
  }

  /** A server went away, or came back. */
  routeOn({ serverId }: OnServer) {
    for (const workload of listWorkloadsOn(this.#db, serverId)) this.route(workload)
  }

  /** Routes all workloads, and removes the slots of deleted ones. */
  routeAll() {
    this.#routed = new Set()
    this.routeNew()
    this.#edge.keep(this.#routed)
  }

  /** Routes the workloads created since: a host must not point to a key without slots. */
  routeNew() {
    const present = new Set<string>()
    const routeOnce = (workload: WorkloadKey, keys: string[]) => {
      for (const key of keys) present.add(key)
      if (keys.every((key) => this.#routed.has(key))) return
      this.route(workload)
      for (const key of keys) this.#routed.add(key)
    }
    for (const id of listEnvironmentIds(this.#db)) routeOnce({ id, kind: 'app' }, [id])
    for (const id of listNamedServiceIds(this.#db)) {
      const domains = listServiceDomains(this.#db, id)
      routeOnce(
        { id, kind: 'service' },
        domains.map((domain) => domain.id),
      )
    }
    this.#forgetGone(present)
  }

  /** The edge has dropped their hosts only after its next check; until then they need a target. */
  #forgetGone(present: Set<string>) {
    for (const key of this.#leaving) {
      if (present.has(key)) continue
      this.#edge.forget(key)
      this.#routed.delete(key)
    }
    this.#leaving = [...this.#routed.difference(present)]
  }

  /** Stores that an instance passed its gate, and routes requests to it. */
  setLive(workload: WorkloadKey, { id }: Pick<Instance, 'id'>) {
    this.noteWell({ id })
    updateInstance(this.#db, id, { state: 'live' })
    this.route(workload)
  }

  noteWell({ id }: Pick<Instance, 'id'>) {
    this.#wellSince.delete(id)
    this.#wellSince.set(id, Date.now())
    if (this.#wellSince.size > mostRemembered)
      this.#wellSince.delete(this.#wellSince.keys().next().value!)
  }

  /**
   * True when it was found healthy after that time, in milliseconds: what was seen then is outdated. A time to come
   * says nothing: the clock was put back since.
   */
  isWellSince({ id }: Pick<Instance, 'id'>, time: number) {
    const at = this.#wellSince.get(id) ?? 0
    return at > time && at <= Date.now()
  }

  /** Stops routing to these instances, which still run or will soon run again; of the release before also ended ones. */
  exclude(workload: WorkloadKey, instances: Pick<Instance, 'id'>[]) {
    if (!this.#edge.isOn) return
    for (const id of this.#ended)
      if (getInstance(this.#db, id)?.state !== 'standby') this.#ended.delete(id)
    for (const { id } of instances)
      if (getInstance(this.#db, id)?.state === 'standby') this.#ended.add(id)
      else updateInstance(this.#db, id, { state: 'unhealthy' })
    this.route(workload)
  }

  isExcluded({ id, state }: Pick<Instance, 'id' | 'state'>) {
    return state === 'unhealthy' || (state === 'standby' && this.#ended.has(id))
  }

  /** Routes requests to one again that was excluded. */
  include(workload: WorkloadKey, { id, state }: Pick<Instance, 'id' | 'state'>) {
    if (state !== 'standby') return this.setLive(workload, { id })
    this.noteWell({ id })
    this.#ended.delete(id)
    this.route(workload)
  }
}

const addressOf = ({ address, port }: Pick<InstanceAddress, 'address' | 'port'>) =>
  `${address}:${port}`

function pageFor(db: Db, { id, kind }: WorkloadKey, led: InstanceAddress[]): PageName {
  if (kind === 'app' && !isKept(db, id)) return 'nobody'
  const job = getJobOf(db, id)?.kind
  const isUp = led.some(({ state }) => state !== 'stopped')
  if (!stops.has(job)) {
    if (isRollingOut(db, id) || (isUp && starts.has(job))) return 'starting'
    if (isUp) return 'unhealthy'
  }
  return getLiveRelease(db, id) ? 'stopped' : 'missing'
}

type Kind = Job['kind'] | undefined
const stops = new Set<Kind>(['stop-app', 'stop'])
const starts = new Set<Kind>(['start-app', 'restart-app', 'start', 'restart', 'change'])

export const shareImpossible = (why: string) =>
  new Failure(
    'share_impossible',
    `Start failed: ${why}`,
    'Deploy it to all requests, or change what the message names.',
  )
