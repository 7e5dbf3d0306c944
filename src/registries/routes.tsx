import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { pageOf, paged } from '../web/paging.ts'
import { moveOn, show } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { userOf } from '../web/user-of.ts'
import { addRegistry, registryForm } from './add.ts'
import type { RegistryDeps } from './add.ts'
import { deleteRegistry, findRegistry, listRegistries } from './store.ts'
import type { Registry } from './store.ts'
import { NewRegistryModal, RegistryList } from './views.tsx'

const path = '/settings/registries'

/** A user's private registries. A password goes in and never comes out. */
export const registryRoutes = (deps: RegistryDeps) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(path, paged(), (c) => {
      const page = c.req.valid('query')
      const list = pageOf(listRegistries(db, { ownerId: userOf(c).id, ...page }), page)
      const json = () => ({ ...list, items: list.items.map(registryJson) })
      return show(c, viewOf(c, { title: 'Registries', ...list, json }))
    })
    .get(`${path}/new`, (c) => show(c, newRegistry(c, emptyDraft)))
    .post(path, input(registryForm(deps.config), newRegistry), async (c) => {
      const asked = { ownerId: userOf(c).id, input: c.var.input, signal: c.req.raw.signal }
      const registry = await addRegistry(deps, asked)
      const { id, host, username } = registry
      audit(c, 'registry.added', {
        object: { kind: 'registry', id, name: host },
        details: { username },
      })
      const json = () => registryJson(registry)
      const said = 'Registry added.'
      return moveOn(c, { to: path, location: `${path}/${id}`, created: true, said, json })
    })
    .get(`${path}/:id`, (c) => {
      const registry = own(c)
      const json = () => registryJson(registry)
      return show(c, viewOf(c, { title: registry.host, items: [registry], nextCursor: null, json }))
    })
    .delete(`${path}/:id`, (c) => {
      const { id, host } = own(c)
      deleteRegistry(db, id)
      audit(c, 'registry.removed', { object: { kind: 'registry', id, name: host } })
      return moveOn(c, { to: path, said: 'Registry removed.', json: () => ({}) })
    })

  function own(c: Context) {
    return findRegistry(db, { id: c.req.param('id')!, ownerId: userOf(c).id })
  }
}

type Listed = Parameters<typeof RegistryList>[0] & { title: string; json: () => unknown }

const viewOf = (c: Context, { title, json, ...list }: Listed) =>
  settingsView(c, { title, path, list: () => <RegistryList {...list} />, json })

const newRegistry = (_: Context, draft: Draft) => ({
  title: 'New registry',
  page: () => <NewRegistryModal draft={draft} />,
})

const registryJson = ({ id, host, username, createdAt }: Registry) => ({
  id,
  host,
  username,
  createdAt,
})
