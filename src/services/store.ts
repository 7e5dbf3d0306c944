import { and, asc, eq, inArray, isNotNull, isNull } from 'drizzle-orm'
import { countRows, getRow, listPage, listRows, listValues } from '../db/queries.ts'
import type { Db, Tx } from '../db/index.ts'
import { environments, links, projects, servicePorts, services, users } from '../db/schema.ts'
import { refuseDuplicate } from '../db/failures.ts'
import type { Duplicates } from '../db/failures.ts'
import { found } from '../platform/errors.ts'
import type { Page } from '../web/paging.ts'

export { serviceStatuses } from '../db/schema.ts'

/** The values of its variables are encrypted. */
export type Service = typeof services.$inferSelect
export type ServiceStatus = Service['status']
export type Changes = Partial<typeof services.$inferInsert>
type PortRow = typeof servicePorts.$inferSelect
export type ServicePort = Omit<PortRow, 'serviceId' | 'position' | 'protocol'> & {
  protocol: 'tcp' | 'udp'
}

const ownedBy = (ownerId: string) => eq(services.ownerId, ownerId)

/** Throws the same error for someone else's instance as for a missing one. */
export const findService = (db: Db, { id, ownerId }: { id: string; ownerId: string }): Service =>
  found('service', getRow(db, services, and(eq(services.id, id), ownedBy(ownerId))))

/** Undefined once it was deleted. */
export const getService = (db: Tx, id: string) => getRow(db, services, eq(services.id, id))

/** Newest first, with one more row than the page, which shows that more follow. */
export const listServices = (db: Db, { ownerId, ...page }: { ownerId: string } & Page) =>
  listPage(db, services, ownedBy(ownerId), page)

export const listNames = (db: Db, ownerId: string) =>
  listValues(db, services.name, ownedBy(ownerId))

export const countServices = (db: Db, ownerId: string) => countRows(db, services, ownedBy(ownerId))

/** For all owners, with their e-mail addresses; sorted by name, without those being deleted. */
export const listWithOwners = (db: Db) =>
  db
    .select({ id: services.id, name: services.name, owner: users.email })
    .from(services)
    .innerJoin(users, eq(users.id, services.ownerId))
    .where(isNull(services.deletingAt))
    .orderBy(asc(services.name), asc(users.email))
    .all()

/** For all owners, oldest first, without those being deleted. */
export const listInStatus = (db: Db, statuses: ServiceStatus[]) =>
  listRows(
    db,
    services,
    and(inArray(services.status, statuses), isNull(services.deletingAt)),
    asc(services.id),
  )

export const getServiceByHost = (db: Db, { ownerId, host }: { ownerId: string; host: string }) =>
  getRow(db, services, and(ownedBy(ownerId), eq(services.host, host)))

export const listServiceHosts = (db: Tx, ownerId: string) =>
  listValues(db, services.host, ownedBy(ownerId))

export const listBeingDeleted = (db: Db) => listRows(db, services, isNotNull(services.deletingAt))

/** Throws when the name or a port is taken. */
export const insertService = (
  db: Db,
  values: typeof services.$inferInsert,
  ports: ServicePort[],
): Service =>
  refuseDuplicate(
    () =>
      db.transaction((tx) => {
        const service = tx.insert(services).values(values).returning().get()
        insertPorts(tx, service.id, ports)
        return service
      }),
    taken,
  )

export const updateService = (
  db: Db,
  id: string,
  changes: Changes,
  ports?: ServicePort[],
): Service =>
  refuseDuplicate(
    () =>
      db.transaction((tx) => {
        if (ports) replacePorts(tx, id, ports)
        return tx.update(services).set(changes).where(eq(services.id, id)).returning().get()
      }),
    taken,
  )

/** Call it in a transaction. */
export function replacePorts(db: Tx, id: string, ports: ServicePort[]) {
  db.delete(servicePorts).where(eq(servicePorts.serviceId, id)).run()
  insertPorts(db, id, ports)
}

function insertPorts(db: Tx, serviceId: string, ports: ServicePort[]) {
  for (const [position, port] of ports.entries()) {
    const twins = ports.filter((other) => isTwin(port, other))
    if (twins[0] !== port) continue
    const protocol = twins.length > 1 ? 'both' : port.protocol
    db.insert(servicePorts)
      .values({ ...port, protocol, serviceId, position })
      .run()
  }
}

/** One row holds the same port for TCP and UDP. */
const isTwin = (one: ServicePort, other: ServicePort) =>
  one.port === other.port && isSamePlace(one, other)

type PortTarget = Pick<ServicePort, 'target' | 'containerPort'>

export const isSamePlace = (one: PortTarget, other: PortTarget) =>
  one.target === other.target && one.containerPort === other.containerPort

const taken: Duplicates = {
  name: 'You already have a service with this name. Choose another name.',
  port: ['hostPort', 'Another service has this port. Choose another one.'],
}

/** Compare-and-set: returns false when it has another status, or was deleted. */
export const moveService = (
  db: Tx,
  { id, from, ...changes }: { id: string; from?: ServiceStatus[]; status: ServiceStatus } & Changes,
) =>
  db
    .update(services)
    .set(changes)
    .where(and(eq(services.id, id), from && inArray(services.status, from)))
    .returning({ id: services.id })
    .all().length > 0

export type LinkedEnvironment = ReturnType<typeof listLinkedEnvironments>[number]

export const listLinkedEnvironments = (db: Db, serviceId: string) =>
  db
    .select({
      id: environments.id,
      name: environments.name,
      projectId: projects.id,
      project: projects.name,
    })
    .from(links)
    .innerJoin(environments, eq(environments.id, links.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(
      and(
        eq(links.serviceId, serviceId),
        isNull(environments.deletingAt),
        isNull(projects.deletingAt),
      ),
    )
    .orderBy(asc(projects.name), asc(environments.name))
    .all()

export const deleteService = (db: Db, id: string) =>
  db.delete(services).where(eq(services.id, id)).run()

/** In the order of the template: the instance's address leads to the first one. */
export const listPorts = (db: Db, id: string): ServicePort[] =>
  listRows(db, servicePorts, eq(servicePorts.serviceId, id), asc(servicePorts.position)).flatMap(
    ({ serviceId, position, protocol, ...port }) =>
      (protocol === 'both' ? (['tcp', 'udp'] as const) : [protocol]).map((protocol) => ({
        ...port,
        protocol,
      })),
  )
