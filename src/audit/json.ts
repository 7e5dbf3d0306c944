import type { AuditEvent } from './store.ts'

export const eventJson = (event: AuditEvent) => ({
  id: event.id,
  time: event.createdAt,
  actor: { id: event.actorId, email: event.actor },
  action: event.action,
  object: event.objectKind && {
    kind: event.objectKind,
    id: event.objectId,
    name: event.objectName,
  },
  address: event.address,
  details: event.details,
})
