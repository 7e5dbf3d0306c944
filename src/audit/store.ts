import { and, asc, eq, gte, lt, or, sql } from 'drizzle-orm'
import type { Column } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { getRow, listPage } from '../db/queries.ts'
import { auditEvents } from '../db/schema.ts'
import type { Page } from '../web/paging.ts'

export type AuditEvent = typeof auditEvents.$inferSelect

export type Filter = {
  actorId?: string | undefined
  actor?: string | undefined
  action?: string | undefined
  /** The object's kind or id, or a part of its name. */
  object?: string | undefined
  from?: Date | undefined
  /** Exclusive. */
  until?: Date | undefined
}

export const insertEvent = (db: Tx, values: typeof auditEvents.$inferInsert) => {
  db.insert(auditEvents).values(values).run()
}

/** Newest first, with one more row than the page has, which shows whether there is a next page. */
export const listEvents = (db: Tx, { filter, page }: { filter: Filter; page: Page }) =>
  listPage(
    db,
    auditEvents,
    and(
      filter.actorId ? eq(auditEvents.actorId, filter.actorId) : undefined,
      filter.actor ? contains(auditEvents.actor, filter.actor) : undefined,
      filter.action ? eq(auditEvents.action, filter.action) : undefined,
      filter.object
        ? or(
            eq(auditEvents.objectId, filter.object),
            eq(auditEvents.objectKind, filter.object),
            contains(auditEvents.objectName, filter.object),
          )
        : undefined,
      filter.from ? gte(auditEvents.createdAt, filter.from) : undefined,
      filter.until ? lt(auditEvents.createdAt, filter.until) : undefined,
    ),
    page,
  )

/** Case-insensitive, without wildcards, so that `%` and `_` are literal. */
const contains = (column: Column, text: string) => sql`instr(lower(${column}), lower(${text})) > 0`

const day = 24 * 3_600_000

/** Milliseconds for which events are kept: a year, and some time to review it. */
const kept = 400 * day

/** Milliseconds of events that one run deletes at most, which limits the damage of a wrong clock. */
const atOnce = day

export function dropOldEvents(db: Tx) {
  const oldest = getRow(db, auditEvents, undefined, asc(auditEvents.createdAt))
  if (!oldest) return
  const before = new Date(Math.min(Date.now() - kept, oldest.createdAt.getTime() + atOnce))
  db.delete(auditEvents).where(lt(auditEvents.createdAt, before)).run()
}
