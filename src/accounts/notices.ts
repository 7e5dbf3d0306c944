import type { Db, Tx } from '../db/index.ts'
import { emit } from '../notifications/emit.ts'
import { adminGranted, loginNew, tokenCreated } from '../notifications/texts.ts'
import { networkOf } from '../web/client-address.ts'
import { deviceOf } from './device.ts'
import { listSessions } from './store.ts'

type Device = { userAgent: string; address: string }

/** Unless the same program has a session from the same network: one without cookies may log in often. */
export function noteLogin(
  db: Db,
  { id, email }: { id: string; email: string },
  { userAgent, address }: Device,
) {
  const isSame = (one: Device) =>
    one.userAgent === userAgent && networkOf(one.address) === networkOf(address)
  if (listSessions(db, id).some(isSame)) return
  emit(db, {
    ...{ ownerId: id, subject: email, href: '/settings/sessions' },
    ...loginNew({ email, address, device: deviceOf(userAgent) }),
  })
}

export const noteToken = (
  tx: Tx,
  token: { userId: string; name: string; scopes: string[]; email: string },
) =>
  emit(tx, {
    ...{ ownerId: token.userId, subject: token.email, href: '/settings/tokens' },
    ...tokenCreated(token),
  })

/** All admins hear of it, also the new one. */
export const noteAdmin = (tx: Tx, { email, by }: { email: string; by: { email: string } }) =>
  emit(tx, {
    ...{ subject: email, href: '/settings/users' },
    ...adminGranted({ email, by: by.email }),
  })
