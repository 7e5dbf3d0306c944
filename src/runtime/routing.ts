import type { Db } from '../db/index.ts'
import type { Edge } from '../edge/edge.ts'
import type { PageName } from '../edge/plan.ts'
import { getJobOf } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import type { Secrets } from '../platform/secrets.ts'
import { openComponents, portOf } from './component.ts'
import {
  isKept,
  listEnvironmentIds,
  listNamedServiceIds,
  listPlaces,
  listServiceDomains,
  listWithoutPort,
} from './routing-store.ts'
import type { InstanceAddress } from './routing-store.ts'
import { getLiveRelease, isRollingOut, updateInstance } from './store.ts'
import type { Instance } from './store.ts'
import type { WorkloadKey } from './workload.ts'

export type RoutingDeps = { db: Db; edge: Pick<Edge, 'isOn' | 'route'> }

/**
 * Routes the domains of a workload to its healthy instances, atomically, or to the page that says why there
 * are none. Depends only on stored state, so that it can be repeated.
 */
export function routeTraffic({ db, edge }: RoutingDeps, workload: WorkloadKey) {
  const { id, kind } = workload
  const places = listPlaces(db, workload)
  const lead = (key: string, led: InstanceAddress[]) => {
    const to = led.flatMap((place) => addressOf(place) ?? [])
    const [first, ...others] = to
    if (first) edge.route(key, [first, ...others])
    else edge.route(key, pageFor(db, workload, led))
  }
  const own = places.filter(({ state }) => serving.has(state))
  if (kind === 'app') lead(id, own)
  else
    for (const domain of listServiceDomains(db, id))
      lead(
        domain.id,
        own
          .filter(({ component }) => component === domain.component)
          .map((place) => ({ ...place, port: domain.port ?? null })),
      )
}

/** States of instances of the live release. */
const serving = new Set(['live', 'unhealthy', 'stopped'])

/** Null while it must not get requests. */
function addressOf({ state, address, port }: InstanceAddress) {
  return state === 'live' && address && port ? `${address}:${port}` : null
}

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

/** Keys that this process has set, by edge. */
const led = new WeakMap<object, Set<string>>()

/** Routes all workloads, and removes the slots of deleted ones. */
export function routeAll(
  deps: RoutingDeps & { secrets: Secrets; edge: Pick<Edge, 'keep' | 'forget'> },
) {
  fillPorts(deps)
  const keys = new Set<string>()
  led.set(deps.edge, keys)
  routeNew(deps)
  deps.edge.keep(keys)
}

/** For instances that an earlier version created. */
function fillPorts({ db, secrets }: { db: Db; secrets: Secrets }) {
  for (const { id, component, release } of listWithoutPort(db)) {
    const made = openComponents(secrets, release)?.find(({ name }) => name === component)
    const port = made && portOf(made)
    if (port) updateInstance(db, id, { port })
  }
}

/** Routes the workloads created since: a host must not point to a key without slots. */
export function routeNew(deps: RoutingDeps & { edge: Pick<Edge, 'forget'> }) {
  const { db, edge } = deps
  const known = led.get(edge) ?? new Set()
  led.set(edge, known)
  const present = new Set<string>()
  for (const id of listEnvironmentIds(db)) {
    present.add(id)
    if (known.has(id)) continue
    routeTraffic(deps, { id, kind: 'app' })
    known.add(id)
  }
  for (const id of listNamedServiceIds(db)) {
    const keys = listServiceDomains(db, id).map((domain) => domain.id)
    for (const key of keys) present.add(key)
    if (keys.every((key) => known.has(key))) continue
    routeTraffic(deps, { id, kind: 'service' })
    for (const key of keys) known.add(key)
  }
  forgetGone(deps, known, present)
}

/** Keys without an owner whose hosts may still be active, by edge. */
const leaving = new WeakMap<object, string[]>()

/** The edge has dropped their hosts only after its next check; until then they need a target. */
function forgetGone(
  { edge }: { edge: Pick<Edge, 'forget'> },
  known: Set<string>,
  present: Set<string>,
) {
  for (const key of leaving.get(edge) ?? []) {
    if (present.has(key)) continue
    edge.forget(key)
    known.delete(key)
  }
  leaving.set(
    edge,
    [...known].filter((key) => !present.has(key)),
  )
}

/** Older entries are dropped: outdated events are only seconds old. */
const mostRemembered = 10_000

/** Milliseconds at which each instance was last found healthy; the latest entry is last. */
const wellSince = new WeakMap<object, Map<string, number>>()

/** Stores that an instance passed its gate, and routes requests to it. */
export function setLive(deps: RoutingDeps, workload: WorkloadKey, { id }: Pick<Instance, 'id'>) {
  const since = wellSince.get(deps.edge) ?? new Map<string, number>()
  since.delete(id)
  wellSince.set(deps.edge, since.set(id, Date.now()))
  if (since.size > mostRemembered) since.delete(since.keys().next().value!)
  updateInstance(deps.db, id, { state: 'live' })
  routeTraffic(deps, workload)
}

/** True when it was found healthy after that time, which makes earlier events outdated. */
export const isWellSince = (deps: RoutingDeps, { id }: Pick<Instance, 'id'>, time: Date) =>
  (wellSince.get(deps.edge)?.get(id) ?? 0) > time.getTime()

/** Stops routing to these instances, which still run or will soon run again. */
export function excludeFromRouting(
  deps: RoutingDeps,
  workload: WorkloadKey,
  instances: Pick<Instance, 'id'>[],
) {
  if (!deps.edge.isOn) return
  for (const { id } of instances) updateInstance(deps.db, id, { state: 'unhealthy' })
  routeTraffic(deps, workload)
}
