import type { Invite, SessionRow, UserRow } from './store.ts'

export const userJson = ({ id, email, name, role, createdAt }: UserRow) => ({
  id,
  email,
  name,
  role,
  createdAt,
})

export const sessionJson = (session: SessionRow, currentId: string | undefined) => ({
  id: session.id,
  userAgent: session.userAgent,
  address: session.address,
  current: session.id === currentId,
  createdAt: session.createdAt,
  lastSeenAt: session.lastSeenAt,
  expiresAt: session.expiresAt,
})

export const inviteJson = ({ id, createdAt, expiresAt }: Invite) => ({ id, createdAt, expiresAt })
