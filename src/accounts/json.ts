import { z } from 'zod'
import { component, id, time, listOf, nothing, does, creates } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import type { SessionRow, UserRow } from './store.ts'

export const session = component('Session', () =>
  z.object({
    id,
    userAgent: z.string(),
    address: z.string(),
    current: z.boolean(),
    createdAt: time,
    lastSeenAt: time,
    expiresAt: time,
  }),
)

export const user = component('User', () =>
  z.object({
    id,
    email: z.email(),
    name: z.string().nullable(),
    role: z.enum(['admin', 'member']),
    createdAt: time,
  }),
)

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

export const operations: SliceOperations = () => ({
  Accounts: {
    'POST /auth/register': creates('Create an account, and log in', user()),
    'POST /auth/login': does('Log in; sets the session cookie', user()),
    'POST /auth/logout': does('Log out', nothing),
    'GET /settings/profile': does('Get your profile', user()),
    'PUT /settings/profile': does('Change your e-mail address or name', user()),
    'PUT /settings/password': does('Change your password; ends your other sessions', user()),
    'GET /settings/sessions': does('List your sessions', listOf(session())),
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
