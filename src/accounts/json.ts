import { z } from 'zod'
import {
  componentOf,
  id,
  shown,
  time,
  listOf,
  lists,
  nothing,
  does,
  creates,
} from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import type { SessionRow, UserRow } from './store.ts'

export const session = componentOf('Session', () => ({
  id,
  userAgent: z.string(),
  address: z.string(),
  current: z.boolean(),
  createdAt: time,
  lastSeenAt: time,
  expiresAt: time,
}))

export const user = componentOf('User', () => ({
  id,
  email: z.email(),
  name: z.string().nullable(),
  role: z.enum(['admin', 'member']),
  createdAt: time,
}))

export const userJson = (row: UserRow) => shown(user, row)

export const sessionJson = (row: SessionRow, currentId: string | undefined) =>
  shown(session, { ...row, current: row.id === currentId })

export const operations: SliceOperations = () => ({
  Accounts: {
    'POST /auth/register': creates('Create an account, and log in', user()),
    'POST /auth/login': does('Log in; sets the session cookie', user()),
    'POST /auth/logout': does('Log out', nothing),
    'POST /auth/device': creates(
      'Start the login of a computer, which its user allows in a browser',
      z.object({
        secret: z.string(),
        code: z.string(),
        interval: z.number(),
        expiresIn: z.number(),
      }),
    ),
    'POST /auth/device/token': does(
      'Take the token of that login; null until it is allowed',
      z.object({ token: z.string().nullable(), email: z.email().nullable() }),
    ),
    'POST /settings/device': does('Allow or refuse the login of a computer', nothing),
    'POST /auth/forgotten': does(
      'Have a link for a new password mailed; the response is the same without such an account',
      nothing,
    ),
    'POST /auth/password': does('Set a new password with such a link; ends all sessions', nothing),
    'GET /settings/profile': does('Get your profile', user()),
    'PUT /settings/profile': does('Change your e-mail address or name', user()),
    'PUT /settings/password': does('Change your password; ends your other sessions', user()),
    'GET /settings/sessions': lists('List your sessions', session()),
    'DELETE /settings/sessions': does('End all other sessions', listOf(session())),
    'DELETE /settings/sessions/:id': does(
      'End a session; ending your own returns an empty response',
      z.union([listOf(session()), nothing]),
    ),
    'POST /settings/identities': does(
      'Start linking a login of the git host; open the URL in a browser',
      z.object({ url: z.url() }),
    ),
    'DELETE /settings/identities/:id': does('Unlink a login of the git host', nothing),
  },
})
