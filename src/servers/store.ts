import { and, count, eq, inArray, isNotNull, ne, or, sql } from 'drizzle-orm'
import type { InferInsertModel, InferSelectModel } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { countRows, preparedOnce } from '../db/queries.ts'
import {
  environments,
  givenImages,
  instances,
  projects,
  servers,
  services,
  workloads,
} from '../db/schema.ts'
import type { Placement } from '../db/schema.ts'
import { firstServer } from '../platform/root.ts'

export { serverRoles } from '../db/schema.ts'

/** Names and values of a server’s labels, by which environments are placed. */
export const label = { key: /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/, value: /^[\w.-]{0,63}$/ }

type Row = InferSelectModel<typeof servers>

export type Server = ReturnType<typeof toServer>

/** Davit’s own first. Empty while there is no other. */
export const listServers = (db: Pick<Tx, 'select'>) =>
  db.select().from(servers).orderBy(servers.id).all().map(toServer)

/** The others, and whether visitors are to reach apps there. */
export const listEdgeServers = (db: Pick<Tx, 'select'>) =>
  listServers(db)
    .slice(1)
    .map(({ id, name, address, roles, isDraining }) => ({
      ...{ id, name, address },
      isServing: roles.includes('edge') && !isDraining,
    }))

export function getServer(db: Pick<Tx, 'select'>, id: string) {
  const row = db.select().from(servers).where(eq(servers.id, id)).get()
  return row && toServer(row)
}

/** Prepared, as each reading of a log asks for it; undefined while there is only one. */
export const nameOf = (db: Db, id: string) => preparedName(db).get({ id })?.name

const preparedName = preparedOnce((db: Db) =>
  db
    .select({ name: servers.name })
    .from(servers)
    .where(eq(servers.id, sql.placeholder('id')))
    .prepare(),
)

const toServer = (row: Row) => ({ ...row, state: stateOf(row) })

export const states = ['ready', 'draining', 'away'] as const

export function stateOf({ lastSeenAt, isDraining }: Row): (typeof states)[number] {
  if (lastSeenAt) return 'away'
  return isDraining ? 'draining' : 'ready'
}

/** What its Docker says of it, in columns of its row. */
export const factsOf = ({ version: engine, cpus, memoryBytes }: EngineFacts) => ({
  engine,
  cpus,
  memoryMb: Math.round(memoryBytes / 2 ** 20),
})

type EngineFacts = { version: string; cpus: number; memoryBytes: number }

export const insertServer = (db: Tx, row: InferInsertModel<typeof servers>) =>
  toServer(db.insert(servers).values(row).returning().get())

export const updateServer = (db: Tx, id: string, changes: Partial<Row>) =>
  db.update(servers).set(changes).where(eq(servers.id, id)).run()

/** Davit’s own is deleted with the last other one; its Docker still has its images. */
export function deleteServer(db: Tx, id: string) {
  if (id !== firstServer) db.delete(givenImages).where(eq(givenImages.serverId, id)).run()
  db.delete(servers).where(eq(servers.id, id)).run()
}

/** Whether a placement means this server. */
export const isNamed = ({ id, labels }: Pick<Row, 'id' | 'labels'>, placement: Placement) =>
  'server' in placement
    ? placement.server === id
    : Object.entries(placement.labels).every(([key, value]) => labels[key] === value)

/**
 * Apps that are placed where Davit's own server is run there without a placement, too, once it is the only one: its
 * labels go with its row.
 */
export function dropPlacementsOn(db: Tx, own: Pick<Row, 'id' | 'labels'>) {
  const { id: environmentId, placement } = environments
  const placed = db
    .select({ environmentId, placement })
    .from(environments)
    .where(isNotNull(placement))
    .all()
    .filter((one) => isNamed(own, one.placement!))
  const ids = placed.map((one) => one.environmentId)
  db.update(environments).set({ placement: null }).where(inArray(environmentId, ids)).run()
}

/** Rows of instances stay when their containers were removed. */
const isOn = (id: string) => and(eq(instances.serverId, id), ne(instances.state, 'removed'))

export const countInstances = (db: Db, id: string) => countRows(db, instances, isOn(id))

const countContainers = (db: Db, id: string) =>
  new Map(
    db
      .select({ id: instances.workloadId, count: count() })
      .from(instances)
      .where(isOn(id))
      .groupBy(instances.workloadId)
      .all()
      .map((one) => [one.id, one.count]),
  )

/** Apps and services with containers or volumes on it, also stopped ones, and those that are placed there by name. */
export function listUsers(db: Db, id: string) {
  const run = db.select({ id: instances.workloadId }).from(instances).where(isOn(id))
  const there = run.union(
    db.select({ id: workloads.id }).from(workloads).where(eq(workloads.pinnedTo, id)),
  )
  const isPlaced = ({ placement }: typeof environments | typeof services) =>
    eq(sql`json_extract(${placement}, '$.server')`, id)
  const apps = db
    .select({
      id: environments.id,
      projectId: projects.id,
      name: environments.name,
      project: projects.name,
    })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(or(inArray(environments.id, there), isPlaced(environments)))
    .all()
  const others = db
    .select({ id: services.id, name: services.name })
    .from(services)
    .where(or(inArray(services.id, there), isPlaced(services)))
    .all()
  const counts = countContainers(db, id)
  return [
    ...apps.map((app) => ({
      href: `/projects/${app.projectId}/envs/${app.id}`,
      name: `${app.project} ${app.name}`,
      containers: counts.get(app.id) ?? 0,
    })),
    ...others.map((one) => ({
      href: `/services/${one.id}`,
      name: one.name,
      containers: counts.get(one.id) ?? 0,
    })),
  ]
}
