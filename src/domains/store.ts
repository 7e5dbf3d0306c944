import { and, eq, inArray, or } from 'drizzle-orm'
import { withOwners } from '../addresses/owner-store.ts'
import type { Domain, Holder } from '../addresses/store.ts'
import type { Changes } from '../db/columns.ts'
import type { Db, Tx } from '../db/index.ts'
import { changeRow, listPage, listRows } from '../db/queries.ts'
import { certificates, domains, projects, services } from '../db/schema.ts'
import { found } from '../platform/errors.ts'
import type { Page } from '../web/paging.ts'

export { certificateStatuses } from '../db/schema.ts'

export type DomainChanges = Changes<typeof domains>

/** Found through the owner of its environment or service. */
export function findOwnDomain(db: Tx, { id, ownerId }: { id: string; ownerId: string }): Domain {
  const row = withOwners(db.select({ domain: domains }).from(domains).$dynamic())
    .where(
      and(eq(domains.id, id), or(eq(projects.ownerId, ownerId), eq(services.ownerId, ownerId))),
    )
    .get()
  return found('domain', row).domain
}

/** A page of an owner's domains plus one more row, newest first. */
export const pageOfDomains = (db: Db, holder: Holder, page: Page): Domain[] =>
  listPage(
    db,
    domains,
    'environmentId' in holder
      ? eq(domains.environmentId, holder.environmentId)
      : eq(domains.serviceId, holder.serviceId),
    page,
  )

/** Call it in a transaction. */
export const updateDomain = (tx: Tx, id: string, changes: DomainChanges): Domain =>
  changeRow(tx, domains, id, changes)

/** Call it in a transaction. */
export const deleteDomain = (tx: Tx, id: string) =>
  tx.delete(domains).where(eq(domains.id, id)).run()

export const getCertificates = (db: Tx, hosts: string[]) =>
  new Map(
    listRows(db, certificates, inArray(certificates.host, hosts)).map((row) => [row.host, row]),
  )
