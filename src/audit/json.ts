import { z } from 'zod'
import { component, id, time, lists } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'

export const auditEvent = component('AuditEvent', () =>
  z.object({
    id,
    time,
    actor: z.object({ id: id.nullable(), email: z.string() }),
    action: z.string(),
    object: z
      .object({ kind: z.string(), id: z.string().nullable(), name: z.string().nullable() })
      .nullable(),
    address: z.string().nullable(),
    details: z.record(z.string(), z.string()),
  }),
)

export const operations: SliceOperations = () => ({
  Administration: {
    'GET /settings/audit': lists('List audit events', auditEvent()),
  },
})
