import { and, eq, inArray, isNull, ne, notInArray } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { getRow, listValues } from '../db/queries.ts'
import {
  backupPlans,
  backups,
  gitSources,
  givenImages,
  projects,
  registries,
  services,
  targets,
} from '../db/schema.ts'
import { firstFree } from '../platform/names.ts'
import { freeHost } from '../services/hosts.ts'
import { listServiceHosts } from '../services/store.ts'

/** Ids of users. */
type Gift = { from: string; to: string }

/**
 * Transfers everything of one user to another: projects, services, git sources and backup targets (renamed if
 * the name or host is taken), backups with their plans, registry logins that the other lacks, and images pulled with them.
 */
export function setOwner(db: Tx, { from, to }: Gift) {
  for (const table of [projects, services, gitSources, targets]) giveNamed(db, table, { from, to })
  const known = db
    .select({ host: registries.host })
    .from(registries)
    .where(eq(registries.ownerId, to))
  db.delete(registries)
    .where(and(eq(registries.ownerId, from), inArray(registries.host, known)))
    .run()
  for (const table of [registries, backups, backupPlans])
    db.update(table).set({ ownerId: to }).where(eq(table.ownerId, from)).run()
  const given = db
    .select({ reference: givenImages.reference })
    .from(givenImages)
    .where(eq(givenImages.ownerId, to))
  db.update(givenImages)
    .set({ ownerId: to })
    .where(and(eq(givenImages.ownerId, from), notInArray(givenImages.reference, given)))
    .run()
}

/**
 * Gives an admin what backs up Davit itself: its plan, its backups, and their targets: all, or those that hold
 * nothing else.
 */
export function giveDavit(db: Tx, { from, to, isAll = false }: Gift & { isAll?: boolean }) {
  const isThere = and(isNull(backups.goneAt), notInArray(backups.status, ['failed', 'cancelled']))
  const usedBy = (compare: typeof eq) => [
    ...listValues(db, backupPlans.targetId, compare(backupPlans.subjectKind, 'davit')),
    ...listValues(db, backups.targetId, and(isThere, compare(backups.subjectKind, 'davit'))),
  ]
  const others = isAll ? [] : usedBy(ne)
  const only = usedBy(eq).filter((id) => !others.includes(id))
  giveNamed(db, targets, { from, to, only })
  for (const table of [backups, backupPlans])
    db.update(table)
      .set({ ownerId: to })
      .where(and(eq(table.ownerId, from), eq(table.subjectKind, 'davit')))
      .run()
}

/** Gives rows that the new owner may have the names or hosts of: all, or only those with these ids. */
function giveNamed(
  db: Tx,
  table: typeof projects | typeof services | typeof gitSources | typeof targets,
  { from, to, only }: Gift & { only?: string[] },
) {
  const ownedBy = (id: string) =>
    db.select({ id: table.id, name: table.name }).from(table).where(eq(table.ownerId, id)).all()
  const taken = new Set(ownedBy(to).map(({ name }) => name))
  for (const { id, name } of ownedBy(from)) {
    if (only && !only.includes(id)) continue
    const free = firstFree(
      (end) => name.slice(0, 60 - end.length) + end,
      (name) => !taken.has(name),
      (number) => ` (${number})`,
    )
    taken.add(free)
    const host = table === services ? { host: hostFor(db, { id, to }) } : {}
    db.update(table)
      .set({ ownerId: to, name: free, ...host })
      .where(eq(table.id, id))
      .run()
  }
}

/** Returns its own host, or a free one if the new owner has a service with that host. */
function hostFor(db: Tx, { id, to }: { id: string; to: string }) {
  const host = getRow(db, services, eq(services.id, id))?.host ?? null
  if (host === null || !listServiceHosts(db, to).includes(host)) return host
  return freeHost(db, { ownerId: to, name: host })
}
