import { and, asc, desc, eq, inArray, isNotNull, ne, notInArray, sql } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { hasRow, listRows, listValues } from '../db/queries.ts'
import { deployments, instances, releases, services, workloads } from '../db/schema.ts'
import type { readLabels } from '../docker/labels.ts'
import { releaseAddresses } from './endpoint-store.ts'
import type { WorkloadKey } from './workload.ts'

export type Instance = typeof instances.$inferSelect
export type InstanceState = Instance['state']

type SlotKey = Pick<Instance, 'component' | 'slot'> & Partial<Pick<Instance, 'port' | 'serverId'>>

/** Selects a container id of each deployment, even if removed: of its first `web`, else first component. */
export const deployedContainer = sql<string | null>`(
  select container_id from instances
  where release_id = deployments.id and container_id is not null and state <> 'once'
  order by state in ('draining', 'removed'), component = 'web' desc, slot, instances.id limit 1
)`.as('container_id')

export const getInstance = (db: Tx, id: string) => listRows(db, instances, eq(instances.id, id))[0]

/** The instance of a container to which requests are routed; undefined when there is none. */
export function findRouted(db: Tx, containerId: string) {
  const [instance] = listRows(db, instances, eq(instances.containerId, containerId))
  const isBefore = instance?.state === 'standby' && getShare(db, instance.workloadId) !== null
  return instance?.state === 'live' || isBefore ? instance : undefined
}

export const keyOf = (instance: Instance | undefined) =>
  instance?.containerId ? { id: instance.containerId, serverId: instance.serverId } : null

/** True when it should be running, healthy or not. */
export const isWanted = ({ state }: Pick<Instance, 'state'>) =>
  state === 'live' || state === 'unhealthy'

/** Stores a release whose containers are about to be created. */
export const insertRelease = (
  db: Db,
  {
    workload,
    id,
    components,
    edge = false,
    slots,
  }: {
    workload: WorkloadKey
    id: string
    components: string | null
    /** True when the edge publishes the port of its environment. */
    edge?: boolean | undefined
    slots: SlotKey[]
  },
): Instance[] =>
  db.transaction((tx) => {
    const { id: workloadId } = workload
    tx.insert(workloads)
      .values({ ...workloadRow(workload), nextReleaseId: id })
      .onConflictDoUpdate({ target: workloads.id, set: { nextReleaseId: id } })
      .run()
    // an earlier attempt may have left it, with a container that couldn't be removed
    tx.insert(releases)
      .values({ id, workloadId, components, edge })
      .onConflictDoUpdate({ target: releases.id, set: { components, edge } })
      .run()
    return slots.map((slot) =>
      tx
        .insert(instances)
        .values({ ...slot, releaseId: id, workloadId })
        .returning()
        .get(),
    )
  })

export const workloadRow = ({ id, kind }: WorkloadKey) => ({
  id,
  ...(kind === 'app' ? { environmentId: id } : { serviceId: id }),
})

/** Call it in a transaction. Adopts existing containers as the live release of their workload. */
export function adoptRelease(
  tx: Db,
  {
    containers,
    ...release
  }: {
    workload: WorkloadKey
    id: string
    edge?: boolean
    containers: (Omit<SlotKey, 'slot'> & { containerId: string; state: 'live' | 'stopped' })[]
  },
) {
  const seen = new Map<string, number>()
  const slots = containers.map(({ component, serverId }): SlotKey => {
    const slot = seen.get(component) ?? 0
    seen.set(component, slot + 1)
    return { component, slot, ...(serverId && { serverId }) }
  })
  const rows = insertRelease(tx, { ...release, components: null, slots })
  for (const [at, { id }] of rows.entries())
    updateInstance(tx, id, { containerId: containers[at]!.containerId })
  const states = new Map(rows.map(({ id }, at) => [id, containers[at]!.state]))
  makeLive(tx, { workloadId: release.workload.id, releaseId: release.id, states })
}

export const insertInstance = (db: Tx, values: typeof instances.$inferInsert) =>
  db.insert(instances).values(values).returning().get()

/** Also releases the addresses of a removed container. */
export function updateInstance(db: Tx, id: string, changes: Partial<Instance>) {
  if (changes.state === 'removed') releaseAddresses(db, id)
  db.update(instances).set(changes).where(eq(instances.id, id)).run()
}

export const deleteInstance = (db: Tx, id: string) =>
  db.delete(instances).where(eq(instances.id, id)).run()

/** Oldest first, without those whose containers were removed. */
export function listInstances(db: Tx, workloadId: string) {
  const mayBeThere = and(eq(instances.workloadId, workloadId), isOfRelease)
  return listRows(db, instances, mayBeThere, asc(instances.id))
}

export const isOfRelease = notInArray(instances.state, ['removed', 'once'])

/** Without those whose containers were removed. */
export const listInstancesOfRelease = (db: Tx, releaseId: string) =>
  listRows(db, instances, and(eq(instances.releaseId, releaseId), isOfRelease))

/** True while requests can go back to the release before, which runs. */
export const isWatched = (db: Tx, environmentId: string) => getWatch(db, environmentId) !== null

const getWatch = (db: Tx, environmentId: string) =>
  listValues(
    db,
    deployments.watch,
    and(eq(deployments.environmentId, environmentId), isNotNull(deployments.watchUntil)),
  )[0] ?? null

/** True when requests go back to the release before, once one of its containers ends by itself. */
export const goesBackOnCrash = (db: Tx, environmentId: string) =>
  getWatch(db, environmentId)?.on.includes('crash') ?? false

/** True from the decision until the release before is live. */
export const isGoingBack = (db: Tx, environmentId: string) =>
  Boolean(getWatch(db, environmentId)?.verdict)

/** The share of the requests that the live release gets; the one before gets the others. Null for all. */
export const getShare = (db: Tx, environmentId: string) =>
  getWatch(db, environmentId)?.share ?? null

/** Those of the release before the live one that are kept. */
export const listStandby = (db: Tx, workloadId: string) =>
  listInstances(db, workloadId).filter(({ state }) => state === 'standby')

const liveStates = ['live', 'unhealthy', 'stopped'] as const

/** True for one of the live release, running or not. */
export const isOfLive = ({ state }: Pick<Instance, 'state'>) =>
  (liveStates as readonly string[]).includes(state)

/** Oldest first, including stopped ones. */
export const listLiveInstances = (db: Tx, workloadId: string) =>
  listRows(
    db,
    instances,
    and(eq(instances.workloadId, workloadId), inArray(instances.state, liveStates)),
    asc(instances.id),
  )

/** Includes one-off instances. */
export const listInstancesOf = (db: Tx, kind: WorkloadKey['kind']) =>
  db
    .select({ instance: instances })
    .from(instances)
    .innerJoin(workloads, eq(workloads.id, instances.workloadId))
    .where(and(isNotNull(columnOf(kind)), ne(instances.state, 'removed')))
    .all()
    .map(({ instance }) => instance)

/** A database restored from a backup lacks newer objects. */
export function isKnown(db: Tx, { deploymentId, serviceId }: ReturnType<typeof readLabels>) {
  const table = serviceId ? services : deployments
  return hasRow(db, table, eq(table.id, serviceId || deploymentId))
}

const columnOf = (kind: WorkloadKey['kind']) =>
  kind === 'app' ? workloads.environmentId : workloads.serviceId

/** The release that is being rolled out, or was when its process ended. */
export const getNextReleaseId = (db: Tx, workloadId: string) =>
  listValues(db, workloads.nextReleaseId, eq(workloads.id, workloadId))[0] ?? null

export const isRollingOut = (db: Tx, workloadId: string) =>
  getNextReleaseId(db, workloadId) !== null

export const listRollingOut = (db: Tx, kind: WorkloadKey['kind']) =>
  listValues(db, workloads.id, and(isNotNull(columnOf(kind)), isNotNull(workloads.nextReleaseId)))

export const getRelease = (db: Tx, id: string) => listRows(db, releases, eq(releases.id, id))[0]

/** Also while it is stopped. */
export const getLiveRelease = (db: Tx, workloadId: string) =>
  db
    .select({
      id: releases.id,
      components: releases.components,
      settings: releases.settings,
      edge: releases.edge,
    })
    .from(workloads)
    .innerJoin(releases, eq(releases.id, workloads.liveReleaseId))
    .where(eq(workloads.id, workloadId))
    .get()

/** Sealed; null once dropped. */
export const getSettings = (db: Tx, id: string) =>
  listValues(db, releases.settings, eq(releases.id, id))[0] ?? null

export const keepSettings = (tx: Tx, { id, settings }: { id: string; settings: string }) =>
  tx.update(releases).set({ settings }).where(eq(releases.id, id)).run()

/** Previous releases that keep their settings, each with up to 500,000 characters. */
const settingsKept = 20

/**
 * Makes the release live, with these states; the containers of all others have to be removed. A rollback can
 * restore the settings of the last ones whose images are kept.
 */
export function makeLive(
  db: Tx,
  {
    workloadId,
    releaseId,
    states,
    keeps = [],
  }: {
    workloadId: string
    releaseId: string
    states: ReadonlyMap<string, InstanceState>
    /** Those of the release that was live whose containers are kept. */
    keeps?: Pick<Instance, 'id'>[]
  },
) {
  const replaced = and(
    eq(instances.workloadId, workloadId),
    ne(instances.releaseId, releaseId),
    isOfRelease,
  )
  const before = getLiveRelease(db, workloadId)?.id ?? ''
  db.update(workloads)
    .set({ liveReleaseId: releaseId, nextReleaseId: null })
    .where(eq(workloads.id, workloadId))
    .run()
  db.update(instances).set({ state: 'draining' }).where(replaced).run()
  for (const { id } of keeps) updateInstance(db, id, { state: 'standby' })
  const isOver = and(
    eq(releases.workloadId, workloadId),
    ne(releases.id, releaseId),
    keeps.length > 0 ? ne(releases.id, before) : undefined,
  )
  db.update(releases).set({ components: null }).where(isOver).run() // it is never used again
  const restorable = db
    .select({ id: releases.id })
    .from(releases)
    .innerJoin(deployments, eq(deployments.id, releases.id))
    .where(and(isOver, isNotNull(releases.settings), isNotNull(deployments.image)))
    .orderBy(desc(releases.id))
    .limit(settingsKept)
  db.update(releases)
    .set({ settings: null })
    .where(and(isOver, isNotNull(releases.settings), notInArray(releases.id, restorable)))
    .run()
  for (const [id, state] of states) updateInstance(db, id, { state })
}

/** Marks interrupted replacements of instances of the live release for removal. */
export const giveUpUnfinished = (db: Tx, workloadId: string) =>
  db
    .update(instances)
    .set({ state: 'draining' })
    .where(
      and(eq(instances.workloadId, workloadId), inArray(instances.state, ['creating', 'starting'])),
    )
    .run()

/** Call it in a transaction. Ends the roll-out, and deletes its release unless a container of it remains. */
export function forgetRelease(tx: Tx, { id, workloadId }: { id: string; workloadId: string }) {
  tx.update(workloads).set({ nextReleaseId: null }).where(eq(workloads.id, workloadId)).run()
  if (listInstances(tx, workloadId).some(({ releaseId }) => releaseId === id)) return
  tx.delete(releases).where(eq(releases.id, id)).run()
}
