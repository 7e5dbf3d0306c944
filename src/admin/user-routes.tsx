import type { Context } from 'hono'
import { governedUserJson } from './json.ts'
import type { UserRow } from '../accounts/store.ts'
import { findUser, listUsers } from '../accounts/store.ts'
import { z } from 'zod'
import { auditor } from '../audit/record.ts'
import type { Action } from '../audit/actions.ts'
import { cancelWaitingOf } from '../deployments/cancel.ts'
import type { TriggerDeps } from '../deployments/trigger.ts'
import { listJobIds } from '../jobs/store.ts'
import { report } from '../platform/journal.ts'
import { flag, line } from '../web/fields.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { firstPage, pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { bodyOrQuery } from '../web/query.ts'
import { requireAdmin, userOf } from '../web/user-of.ts'
import { awaitOrAccept, moveOn, show, showSaved } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import type { Streams } from '../web/streams.ts'
import { changeUser } from './change-user.ts'
import { DeleteUserModal } from './delete-user.tsx'
import { transferAll, renewWebhooks } from './transfer.ts'
import { refuseWithoutEngine } from '../runtime/remove.ts'
import { beginRemoval, removeUser } from './remove-user.ts'
import type { RemovalDeps } from './remove-user.ts'
import { listHeirs, listProjectsOf, listServicesOf } from './store.ts'
import { UserList } from './users-page.tsx'

const userUpdateForm = z.object({
  role: z.enum(['admin', 'member'], 'must be admin or member.').optional(),
  disabled: flag().optional(),
})

const userRemovalForm = z.object({
  /** Defaults to `give`. */
  belongings: z.enum(['give', 'delete'], 'must be give or delete.').nullish(),
  heirId: line('the id of a user', { max: 36 }).nullish(),
  volumes: flag().nullish(),
})

export const userRoutes = (deps: RemovalDeps & TriggerDeps & { streams: Streams }) => {
  const { db, config } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/settings/users', requireAdmin, paged(), (c) => show(c, users(c, c.req.valid('query'))))
    .put('/settings/users/:id', requireAdmin, input(userUpdateForm), async (c) => {
      const id = c.req.param('id')
      const by = userOf(c)
      const before = findUser(db, id)
      const user = changeUser(db, { id, by, ...c.var.input })
      for (const action of changesOf(before, user))
        audit(c, action, { object: { kind: 'user', id, name: user.email } })
      if (c.var.input.disabled) {
        const projectIds = listProjectsOf(db, id).map((project) => project.id)
        await cancelWaitingOf(deps, { projectIds, by: by.email })
        await waitFor(c, deps.jobs.cancel(listJobIds(db, { ownerId: id }), { by: by.email }))
      }
      const json = () => governedUserJson(user)
      return showSaved(c, {
        to: '/settings/users',
        said: 'User saved.',
        ...users(c, firstPage),
        json,
      })
    })
    .get('/settings/users/:id/delete', requireAdmin, (c) => {
      const user = findUser(db, c.req.param('id'))
      const belongings = {
        projects: listProjectsOf(db, user.id).map(nameOf),
        services: listServicesOf(db, user.id).map(nameOf),
      }
      const heirs = listHeirs(db, user.id)
      return show(c, {
        title: `Delete ${user.email}`,
        page: () => <DeleteUserModal {...{ user, viewer: userOf(c), belongings, heirs }} />,
        json: () => ({ ...belongings, heirs }),
      })
    })
    .delete('/settings/users/:id', requireAdmin, bodyOrQuery(userRemovalForm), async (c) => {
      const { belongings, heirId, volumes } = c.var.input
      if (belongings === 'delete') return deleteAll(c, { volumes: volumes ?? false })
      return handOn(c, { heirId: heirId ?? userOf(c).id })
    })

  async function handOn(c: Context, { heirId }: { heirId: string }) {
    const by = userOf(c)
    const given = transferAll(deps, { id: c.req.param('id')!, by, heirId })
    const { user, heir, projects, services, work } = given
    const names = { projects: projects.map(nameOf), services: services.map(nameOf) }
    audit(c, 'user.deleted', {
      object: { kind: 'user', id: user.id, name: user.email },
      details: { ...said(names), ...(said(names) && { given_to: heir.email }) },
    })
    await waitFor(
      c,
      Promise.all([
        deps.jobs.cancel(work, { by: by.email }),
        renewWebhooks(deps, { projects, heirId }),
      ]),
    )
    const json = () => ({ ...names, heir: { id: heir.id, email: heir.email } })
    return moveOn(c, { to: '/settings/users', said: `${user.email} deleted.`, json })
  }

  async function deleteAll(c: Context, { volumes }: { volumes: boolean }) {
    const id = c.req.param('id')!
    await refuseWithoutEngine(deps, { ownerId: id })
    const by = userOf(c)
    const begun = beginRemoval(db, { id, by, volumes })
    const { user } = begun
    const names = { projects: begun.projects.map(nameOf), services: begun.services.map(nameOf) }
    audit(c, 'user.deleted', {
      object: { kind: 'user', id: user.id, name: user.email },
      details: { ...said(names), deleted: volumes ? 'with their volumes' : 'without volumes' },
    })
    const work = listJobIds(db, { ownerId: user.id })
    await waitFor(
      c,
      deps.jobs.cancel(work, { by: by.email }).then(() => removeUser(deps, user)),
    )
    const json = () => ({ ...names, heir: null })
    return moveOn(c, { to: '/settings/users', said: `${user.email} deleted.`, json })
  }

  /** Longer work continues in the background, with a response of 202. */
  async function waitFor(c: Context, work: Promise<unknown>) {
    deps.streams.recheck() // now, not only after the response
    await awaitOrAccept(c, work, {
      acceptTimeout: deps.config.acceptTimeout,
      at: '/settings/users',
    })
    work.catch((error) => report('a user’s work was not ended', error, { path: c.req.path }))
  }

  function users(c: Context, page: Page) {
    const rows = listUsers(db, page).map((row) => ({ id: row.user.id, ...row }))
    const { items, nextCursor } = pageOf(rows, page)
    const list = { viewer: userOf(c), users: items, nextCursor, registration: config.registration }
    return settingsView(c, {
      path: '/settings/users',
      title: 'Users',
      list: () => <UserList {...list} />,
      json: () => ({
        items: items.map(({ user, projects, services }) => ({
          ...governedUserJson(user),
          projects,
          services,
        })),
        nextCursor,
        registration: config.registration,
      }),
    })
  }
}

const nameOf = ({ name }: { name: string }) => name

/** Details for the audit log, without empty kinds. */
const said = (names: Record<string, string[]>) =>
  Object.fromEntries(
    Object.entries(names).flatMap(([kind, all]) =>
      all.length > 0 ? [[kind, all.join(', ').slice(0, 1000)]] : [],
    ),
  )

function changesOf(before: UserRow, after: UserRow) {
  const actions: Action[] = []
  if (before.role !== after.role)
    actions.push(after.role === 'admin' ? 'user.promoted' : 'user.demoted')
  if (!before.disabledAt !== !after.disabledAt)
    actions.push(after.disabledAt ? 'user.disabled' : 'user.enabled')
  return actions
}
