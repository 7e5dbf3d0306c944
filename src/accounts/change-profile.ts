import type { z } from 'zod'
import type { Db } from '../db/index.ts'
import { confirmPassword } from './confirm-password.ts'
import type { passwordForm, profileForm } from './forms.ts'
import { hashPassword } from './passwords.ts'
import { deleteOtherSessions, deleteSessionsOf } from './store.ts'
import { updateUser } from './user-store.ts'

type From = { userId: string; sessionId: string; address: string }

/** Changes the user's e-mail address and name. A new address ends the user's other sessions. */
export async function changeProfile(
  db: Db,
  { email, name, currentPassword = null, ...from }: z.infer<typeof profileForm> & From,
) {
  const user = await confirmPassword(db, { ...from, password: currentPassword })
  return db.transaction((tx) => {
    const changed = updateUser(tx, user.id, { email, name })
    if (changed.email !== user.email)
      deleteOtherSessions(tx, { userId: user.id, id: from.sessionId })
    return { before: user, user: changed }
  })
}

/** Changes the user's password, or sets the first one, and ends all their sessions: start a new one. */
export async function changePassword(
  db: Db,
  {
    password,
    currentPassword = null,
    ...from
  }: z.infer<typeof passwordForm> & Omit<From, 'sessionId'>,
) {
  const user = await confirmPassword(db, { ...from, password: currentPassword })
  const passwordHash = await hashPassword(password)
  return db.transaction((tx) => {
    deleteSessionsOf(tx, user.id)
    return updateUser(tx, user.id, { passwordHash })
  })
}
