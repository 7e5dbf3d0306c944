import { z } from 'zod'
import { component, componentOf, id, shown, time, listOf, does, works } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { user } from '../accounts/json.ts'
import type { UserRow } from '../accounts/store.ts'
import { certificateStatuses } from '../domains/store.ts'

export const governedUser = component('GovernedUser', () =>
  user().extend({
    disabledAt: time.nullable(),
    deleting: z.boolean(),
  }),
)

export const governedUserJson = (row: UserRow) =>
  shown(governedUser, { ...row, deleting: row.deletingAt !== null })

/** Counts what each user owns; `registration` is who may register. */
export const userList = component('UserList', () =>
  listOf(governedUser().extend({ projects: z.int(), services: z.int() })).extend({
    registration: z.enum(['closed', 'invite', 'open']),
  }),
)

/** The projects and services of a deleted user. `heir` is the new owner; null if they were deleted, too. */
export const userRemoval = componentOf('UserRemoval', () => ({
  projects: z.array(z.string()),
  services: z.array(z.string()),
  heir: z.object({ id, email: z.string() }).nullable(),
}))

export const activity = componentOf('Activity', () => ({
  kind: z.enum(['deployment', 'environment', 'run', 'service', 'clean-up']),
  id: id.nullable(),
  name: z.string(),
  status: z.string(),
  owner: z.object({ id: id.nullable(), email: z.string() }),
  since: time,
}))

/** The host access of a service. It lapses when no admin allows it any more; `allowedBy` is then null. */
export const grant = componentOf('Grant', () => ({
  service: z.object({ id, name: z.string() }),
  owner: z.object({ id, email: z.string() }),
  allowed: z.array(z.string()),
  allowedBy: z.object({ id, email: z.string() }).nullable(),
}))

const failure = () => z.object({ code: z.string(), message: z.string(), hint: z.string() })

/** `leftOut` lists hosts and ports that the edge rejected, although it serves the others. */
export const edge = componentOf('Edge', () => ({
  setting: z.enum(['auto', 'caddy', 'external', 'direct']),
  mode: z.enum(['caddy', 'external', 'direct']),
  ports: z.object({ http: z.int(), https: z.int() }),
  domain: z.string().nullable(),
  davit: z.string().nullable(),
  caddy: z.object({ version: z.string().nullable(), loadedAt: time.nullable() }).nullable(),
  trouble: failure().nullable(),
  leftOut: z.array(failure().extend({ host: z.string().nullable(), port: z.int().nullable() })),
  /** The addresses that names should resolve to, as far as known. */
  publicAddresses: z.array(z.string()),
  troubled: z.array(
    z.object({
      host: z.string(),
      status: z.enum(certificateStatuses),
      error: z.object({ message: z.string(), hint: z.string().nullable() }),
      nextTryAt: time.nullable(),
    }),
  ),
}))

export const operations: SliceOperations = () => ({
  Administration: {
    'GET /settings/users': does('List the users', userList()),
    'PUT /settings/users/:id': works('Disable, enable or promote a user', governedUser()),
    'DELETE /settings/users/:id': works(
      'Delete a user; projects and services are transferred to another user or deleted',
      userRemoval(),
    ),
    'GET /settings/activity': does(
      'List what is queued or running, of all users',
      listOf(activity()),
    ),
    'POST /settings/activity/deployments/:id/cancel': works(
      'Cancel a deployment',
      listOf(activity()),
    ),
    'POST /settings/activity/environments/:id/cancel': works(
      'Cancel a start, restart or stop of an environment',
      listOf(activity()),
    ),
    'POST /settings/activity/runs/:id/cancel': works('Cancel a run', listOf(activity())),
    'POST /settings/activity/services/:id/cancel': works(
      'Cancel the start or change of a service',
      listOf(activity()),
    ),
    'POST /settings/activity/clean-up/cancel': works('Cancel the clean-up', listOf(activity())),
    'GET /settings/grants': does('List services with host access', listOf(grant())),
    'PUT /settings/grants/:id': does(
      'Revoke what a service may do to the host, or allow it',
      listOf(grant()),
    ),
    'GET /settings/edge': does('Get how domains are served, and what isn’t served', edge()),
  },
})
