import type { SessionRow, UserRow } from './store.ts'

export const userJson = ({ id, email, name, role, createdAt }: UserRow) => ({
  id,
  email,
  name,
  role,
  createdAt,
})

/** For admins. */
export const governedUserJson = (user: UserRow) => ({
  ...userJson(user),
  disabledAt: user.disabledAt,
  deleting: user.deletingAt !== null,
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
