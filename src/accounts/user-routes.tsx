import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import type { Action } from '../audit/actions.ts'
import type { Deps } from '../deps.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { requireAdmin } from '../web/require-admin.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { userUpdateForm } from './forms.ts'
import { changeUser, removeUser } from './govern-users.ts'
import { governedUserJson } from './json.ts'
import type { UserRow } from './store.ts'
import { findUser, listProjectNames, listUsers } from './user-store.ts'
import { DeleteUserModal, UserList, UsersPage } from './users-page.tsx'

const firstPage: Page = { limit: 50 }

/** All users, for admins: who they are, what they may, and their end. */
export const userRoutes = ({ db, config }: Pick<Deps, 'db' | 'config'>) => {
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/settings/users', requireAdmin, paged(), (c) => show(c, users(c, c.req.valid('query'))))
    .put('/settings/users/:id', requireAdmin, input(userUpdateForm), (c) => {
      const id = c.req.param('id')
      const before = findUser(db, id)
      const user = changeUser(db, { id, by: userOf(c), ...c.var.input })
      for (const action of changesOf(before, user))
        audit(c, action, { object: { kind: 'user', id, name: user.email } })
      if (clientOf(c) === 'partial') return show(c, users(c, firstPage))
      return moveOn(c, { to: '/settings/users', json: () => governedUserJson(user) })
    })
    .get('/settings/users/:id/delete', requireAdmin, (c) => {
      const user = findUser(db, c.req.param('id'))
      const projects = listProjectNames(db, user.id)
      return show(c, {
        title: `Delete ${user.email}`,
        page: () => <DeleteUserModal user={user} projects={projects} />,
        json: () => ({ projects }),
      })
    })
    .delete('/settings/users/:id', requireAdmin, (c) => {
      const id = c.req.param('id')
      const { user, projects } = removeUser(db, { id, by: userOf(c) })
      const details = projects.length > 0 ? { projects: projects.join(', ') } : {}
      audit(c, 'user.deleted', { object: { kind: 'user', id, name: user.email }, details })
      return moveOn(c, { to: '/settings/users', json: () => ({ projects }) })
    })

  function users(c: Context, page: Page) {
    const rows = listUsers(db, page).map((row) => ({ id: row.user.id, ...row }))
    const { items, nextCursor } = pageOf(rows, page)
    const list = { viewer: userOf(c), users: items, nextCursor, registration: config.registration }
    return {
      title: 'Users',
      page: () => <UsersPage {...list} />,
      partial: () => <UserList {...list} />,
      json: () => ({
        items: items.map(({ user, projects }) => ({ ...governedUserJson(user), projects })),
        nextCursor,
        registration: config.registration,
      }),
    }
  }
}

function changesOf(before: UserRow, after: UserRow) {
  const actions: Action[] = []
  if (before.role !== after.role)
    actions.push(after.role === 'admin' ? 'user.promoted' : 'user.demoted')
  if (!before.disabledAt !== !after.disabledAt)
    actions.push(after.disabledAt ? 'user.disabled' : 'user.enabled')
  return actions
}
