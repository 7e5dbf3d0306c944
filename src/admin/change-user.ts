import { deleteOpenInvitesOf } from '../accounts/invite-store.ts'
import { noteAdmin } from '../accounts/notices.ts'
import { deleteSessionsOf } from '../accounts/store.ts'
import type { UserRow } from '../accounts/store.ts'
import { deleteTokensOf } from '../accounts/token-store.ts'
import { findUser, isAdmin, updateUser } from '../accounts/store.ts'
import type { Db, Tx } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { AppError } from '../platform/errors.ts'
import type { User } from '../web/factory.ts'
import { onlyForAdmins } from '../web/user-of.ts'
import { giveDavit } from './transfer-store.ts'

type Change = { role?: User['role'] | undefined; disabled?: boolean | undefined }

/** Changes the role of another user, or disables them, which ends their sessions and tokens at once. */
export const changeUser = (db: Db, { id, by, role, disabled }: Change & { id: string; by: User }) =>
  // when two admins remove each other, the second is refused
  asWriter(db, (tx) => {
    const user = findOtherLive(tx, { id, by })
    if (role === 'member') deleteOpenInvitesOf(tx, id)
    if (role === 'member' && user.role === 'admin') giveDavit(tx, { from: id, to: by.id })
    if (role === 'admin' && user.role !== 'admin') noteAdmin(tx, { email: user.email, by })
    if (disabled) return shutOut(tx, user, { role })
    return updateUser(tx, id, { role, ...(disabled === false && { disabledAt: null }) })
  })

export function shutOut(
  tx: Tx,
  { id, disabledAt }: UserRow,
  changes: { role?: User['role'] | undefined; deletingAt?: Date } = {},
) {
  deleteSessionsOf(tx, id)
  deleteTokensOf(tx, id)
  deleteOpenInvitesOf(tx, id)
  return updateUser(tx, id, { ...changes, disabledAt: disabledAt ?? new Date() })
}

/**
 * Throws unless it is done by someone who still is an admin in the transaction of the change. So at least that
 * one remains.
 */
export function findOther(tx: Tx, { id, by }: { id: string; by: User }) {
  if (!isAdmin(tx, by.id)) throw onlyForAdmins()
  const user = findUser(tx, id)
  if (id === by.id)
    throw new AppError('conflict', 'This is your own account. Another admin has to do it.')
  return user
}

/** Throws also while the user is being deleted. */
export function findOtherLive(tx: Tx, wanted: { id: string; by: User }) {
  const user = findOther(tx, wanted)
  if (user.deletingAt)
    throw new AppError('conflict', `${user.email} is being deleted, with everything they own.`)
  return user
}
