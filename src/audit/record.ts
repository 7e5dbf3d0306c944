import type { Context } from 'hono'
import type { Tx } from '../db/index.ts'
import type { Env } from '../web/factory.ts'
import { userOf } from '../web/user-of.ts'
import type { Action, ObjectKind } from './actions.ts'
import { insertEvent } from './store.ts'

export type Occurrence = {
  /** Without an id, `email` names another cause, such as a webhook. */
  actor: { id: string | null; email: string }
  action: Action
  object?: AuditObject | undefined
  /** The client's IP address. */
  address?: string | null
  /** Names, never values that may be secret. */
  details?: Record<string, string>
}

/** The name is stored, so that the event stays readable after the object is deleted. */
type AuditObject = { kind: ObjectKind; id: string; name?: string | null }

/** Stores an event permanently; within a transaction, only if that commits. */
export const recordEvent = (db: Tx, { actor, object, ...rest }: Occurrence) =>
  insertEvent(db, {
    ...rest,
    actorId: actor.id,
    actor: actor.email,
    objectKind: object?.kind ?? null,
    objectId: object?.id ?? null,
    objectName: object?.name ?? null,
  })

/**
 * Records an action of a request's user, with their IP address and API token.
 * A slice creates it once, `const audit = auditor(db)`, and each route that changes something
 * calls it afterwards: `audit(c, 'variable.created', { object: { kind: 'variable', id, name: key } })`.
 */
export const auditor =
  (db: Tx) =>
  (
    c: Context,
    action: Action,
    { object, details }: Pick<Occurrence, 'object' | 'details'> = {},
  ) => {
    const { address, token } = (c as Context<Env>).var
    recordEvent(db, {
      actor: userOf(c),
      action,
      object,
      address,
      details: { ...details, ...(token && { token: token.name }) },
    })
  }
