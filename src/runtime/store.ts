import { and, asc, eq, inArray, isNotNull, ne, notInArray, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { countRows, listRows, listValues } from '../db/queries.ts'
import { deployments, instances, releases, services, workloads } from '../db/schema.ts'
import type { readLabels } from '../docker/labels.ts'
import { releaseAddresses } from './endpoint-store.ts'
import type { WorkloadKey } from './workload.ts'

export type Instance = typeof instances.$inferSelect
export type InstanceState = Instance['state']

/** Which container of a release: the name of its component, and which of the replicas. */
export type SlotKey = Pick<Instance, 'component' | 'slot'>

/** The database, or a transaction of it. */
export type Tx = Pick<Db, 'select' | 'insert' | 'update' | 'delete'>

/**
 * In a selection of deployments: the id of a container of each, also once that was removed: of its first
 * `web`, else of what starts first.
 */
export const deployedContainer = sql<string | null>`(
  select container_id from instances
  where release_id = deployments.id and container_id is not null and state <> 'once'
  order by state in ('draining', 'removed'), component = 'web' desc, slot, instances.id limit 1
)`.as('container_id')

/** Stores what is to run, and that its containers are about to be created. */
export const insertRelease = (
  db: Db,
  {
    workload,
    id,
    components,
    slots,
  }: { workload: WorkloadKey; id: string; components: string | null; slots: SlotKey[] },
): Instance[] =>
  db.transaction((tx) => {
    const { id: workloadId } = workload
    tx.insert(workloads)
      .values({ ...workloadRow(workload), nextReleaseId: id })
      .onConflictDoUpdate({ target: workloads.id, set: { nextReleaseId: id } })
      .run()
    // an earlier try may have left it, with a container that could not be removed
    tx.insert(releases)
      .values({ id, workloadId, components })
      .onConflictDoUpdate({ target: releases.id, set: { components } })
      .run()
    return slots.map(({ component, slot }) =>
      tx.insert(instances).values({ releaseId: id, workloadId, component, slot }).returning().get(),
    )
  })

export const workloadRow = ({ id, kind }: WorkloadKey) => ({
  id,
  ...(kind === 'app' ? { environmentId: id } : { serviceId: id }),
})

/** In a transaction: takes containers that are there for the live release of their workload. */
export function adoptRelease(
  tx: Db,
  {
    containers,
    ...release
  }: {
    workload: WorkloadKey
    id: string
    containers: { component: string; containerId: string; state: 'live' | 'stopped' }[]
  },
) {
  const seen = new Map<string, number>()
  const slots = containers.map(({ component }) => {
    const slot = seen.get(component) ?? 0
    seen.set(component, slot + 1)
    return { component, slot }
  })
  const rows = insertRelease(tx, { ...release, components: null, slots })
  for (const [at, { id }] of rows.entries())
    updateInstance(tx, id, { containerId: containers[at]!.containerId })
  const states = new Map(rows.map(({ id }, at) => [id, containers[at]!.state]))
  makeLive(tx, { workloadId: release.workload.id, releaseId: release.id, states })
}

export const insertInstance = (db: Tx, values: typeof instances.$inferInsert) =>
  db.insert(instances).values(values).returning().get()

/** Changes the fields present. One whose container was removed holds no address any more. */
export function updateInstance(db: Tx, id: string, changes: Partial<Instance>) {
  if (changes.state === 'removed') releaseAddresses(db, id)
  db.update(instances).set(changes).where(eq(instances.id, id)).run()
}

export const deleteInstance = (db: Tx, id: string) =>
  db.delete(instances).where(eq(instances.id, id)).run()

/** Those of releases whose containers may be there, oldest first. */
export function listInstances(db: Tx, workloadId: string) {
  const mayBeThere = and(eq(instances.workloadId, workloadId), isOfRelease)
  return listRows(db, instances, mayBeThere, asc(instances.id))
}

const isOfRelease = notInArray(instances.state, ['removed', 'once'])

/** Those of the live release, whether they run or were stopped, oldest first. */
export const listLiveInstances = (db: Tx, workloadId: string) =>
  listRows(
    db,
    instances,
    and(eq(instances.workloadId, workloadId), inArray(instances.state, ['live', 'stopped'])),
    asc(instances.id),
  )

/** All of apps or of services, those that run once too. */
export const listInstancesOf = (db: Tx, kind: WorkloadKey['kind']) =>
  db
    .select({ instance: instances })
    .from(instances)
    .innerJoin(workloads, eq(workloads.id, instances.workloadId))
    .where(and(isNotNull(columnOf(kind)), ne(instances.state, 'removed')))
    .all()
    .map(({ instance }) => instance)

/** Whether what the labels name is known: a database from a backup does not know what came after it. */
export function isKnown(db: Tx, { deploymentId, serviceId }: ReturnType<typeof readLabels>) {
  const table = serviceId ? services : deployments
  return countRows(db, table, eq(table.id, serviceId || deploymentId)) > 0
}

const columnOf = (kind: WorkloadKey['kind']) =>
  kind === 'app' ? workloads.environmentId : workloads.serviceId

/** The release that is being rolled out, or was when its process ended. */
export const getNextReleaseId = (db: Tx, workloadId: string) =>
  listValues(db, workloads.nextReleaseId, eq(workloads.id, workloadId))[0] ?? null

/** Whether a roll-out is at work on its containers. */
export const isRollingOut = (db: Tx, workloadId: string) =>
  getNextReleaseId(db, workloadId) !== null

/** Workloads whose roll-out has not ended. */
export const listRollingOut = (db: Tx, kind: WorkloadKey['kind']) =>
  listValues(db, workloads.id, and(isNotNull(columnOf(kind)), isNotNull(workloads.nextReleaseId)))

/** The release that serves, or did until it was stopped. */
export const getLiveRelease = (db: Tx, workloadId: string) =>
  db
    .select({ id: releases.id, components: releases.components, settings: releases.settings })
    .from(workloads)
    .innerJoin(releases, eq(releases.id, workloads.liveReleaseId))
    .where(eq(workloads.id, workloadId))
    .get()

/** Stores what a release was made from. */
export const keepSettings = (tx: Tx, { id, settings }: { id: string; settings: string }) =>
  tx.update(releases).set({ settings }).where(eq(releases.id, id)).run()

/** The release serves from now on, with these states; the containers of all others are to be removed. */
export function makeLive(
  db: Tx,
  {
    workloadId,
    releaseId,
    states,
  }: { workloadId: string; releaseId: string; states: ReadonlyMap<string, InstanceState> },
) {
  const replaced = and(
    eq(instances.workloadId, workloadId),
    ne(instances.releaseId, releaseId),
    isOfRelease,
  )
  db.update(workloads)
    .set({ liveReleaseId: releaseId, nextReleaseId: null })
    .where(eq(workloads.id, workloadId))
    .run()
  db.update(instances).set({ state: 'draining' }).where(replaced).run()
  const isOver = and(eq(releases.workloadId, workloadId), ne(releases.id, releaseId))
  db.update(releases).set({ components: null, settings: null }).where(isOver).run() // nobody needs its secrets any more
  for (const [id, state] of states) updateInstance(db, id, { state })
}

/** In a transaction: the live release is what there is. One whose containers stay is kept with them. */
export function forgetRelease(tx: Tx, { id, workloadId }: { id: string; workloadId: string }) {
  tx.update(workloads).set({ nextReleaseId: null }).where(eq(workloads.id, workloadId)).run()
  if (listInstances(tx, workloadId).some(({ releaseId }) => releaseId === id)) return
  tx.delete(releases).where(eq(releases.id, id)).run()
}
