import type { Db } from '../db/index.ts'
import { AppError } from '../errors.ts'
import type { User } from '../web/factory.ts'
import { deleteSessionsOf } from './store.ts'
import { deleteTokensOf } from './token-store.ts'
import {
  deleteUser,
  findUser,
  hasOtherAdmin,
  listProjectNames,
  setOwner,
  updateUser,
} from './user-store.ts'

type Change = { role?: User['role'] | undefined; disabled?: boolean | undefined }

/** Changes the role of another user, or shuts them out: their sessions and tokens end at once. */
export const changeUser = (db: Db, { id, by, role, disabled }: Change & { id: string; by: User }) =>
  db.transaction(
    (tx) => {
      const user = findUser(tx, id)
      refuseOneself(user, by)
      if (role === 'member' || disabled) keepAnAdmin(tx, id)
      if (disabled) {
        deleteSessionsOf(tx, id)
        deleteTokensOf(tx, id)
      }
      const disabledAt = disabled === false ? null : disabled && (user.disabledAt ?? new Date())
      return updateUser(tx, id, { role, disabledAt })
    },
    { behavior: 'immediate' }, // of two admins who remove each other the second is refused
  )

/** Deletes another user; what they own goes to the admin who does it, and runs on. Answers with it. */
export const removeUser = (db: Db, { id, by }: { id: string; by: User }) =>
  db.transaction(
    (tx) => {
      const user = findUser(tx, id)
      refuseOneself(user, by)
      keepAnAdmin(tx, id)
      const projects = listProjectNames(tx, id)
      setOwner(tx, { from: id, to: by.id })
      deleteUser(tx, id)
      return { user, projects }
    },
    { behavior: 'immediate' },
  )

function refuseOneself({ id }: { id: string }, by: User) {
  if (id === by.id)
    throw new AppError('conflict', 'This is your own account. Another admin has to do it.')
}

/** Counted again beside the change: the admin who asks may be none any more. */
function keepAnAdmin(tx: Parameters<typeof hasOtherAdmin>[0], id: string) {
  if (!hasOtherAdmin(tx, id))
    throw new AppError('conflict', 'This is the last admin. Make another user an admin first.')
}
