import { z } from 'zod'
import { componentOf, id, shown, time, lists } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import type { AuditEvent } from './store.ts'

export const auditEvent = componentOf('AuditEvent', () => ({
  id,
  time,
  actor: z.object({ id: id.nullable(), email: z.string() }),
  action: z.string(),
  object: z
    .object({ kind: z.string(), id: z.string().nullable(), name: z.string().nullable() })
    .nullable(),
  address: z.string().nullable(),
  details: z.record(z.string(), z.string()),
}))

export const eventJson = (row: AuditEvent) =>
  shown(auditEvent, {
    ...row,
    time: row.createdAt,
    actor: { id: row.actorId, email: row.actor },
    object:
      row.objectKind === null
        ? null
        : { kind: row.objectKind, id: row.objectId, name: row.objectName },
  })

export const operations: SliceOperations = () => ({
  Administration: {
    'GET /settings/audit': lists('List audit events', auditEvent()),
  },
})
