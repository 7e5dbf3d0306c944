import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { pageOf, paged } from '../web/paging.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { addRegistry } from './add.ts'
import type { RegistryDeps } from './add.ts'
import { registryForm } from './forms.ts'
import { deleteRegistry, findRegistry, listRegistries } from './store.ts'
import { NewRegistryModal, RegistriesPage, RegistryList } from './views.tsx'
import type { Registry } from './store.ts'

const page = '/settings/registries'

/** A user's private registries. A password goes in and never comes out. */
export const registryRoutes = (deps: RegistryDeps) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/settings/registries', paged(), (c) => {
      const wanted = c.req.valid('query')
      const list = pageOf(listRegistries(db, { ownerId: userOf(c).id, ...wanted }), wanted)
      return show(c, {
        title: 'Registries',
        page: () => <RegistriesPage user={userOf(c)} {...list} />,
        partial: () => <RegistryList {...list} />,
        json: () => ({ ...list, items: list.items.map(registryJson) }),
      })
    })
    .get('/settings/registries/new', (c) => show(c, newRegistry(c, emptyDraft)))
    .post('/settings/registries', input(registryForm(deps.config), newRegistry), async (c) => {
      const asked = { ownerId: userOf(c).id, input: c.var.input, signal: c.req.raw.signal }
      const registry = await addRegistry(deps, asked)
      const { id, host, username } = registry
      audit(c, 'registry.added', {
        object: { kind: 'registry', id, name: host },
        details: { username },
      })
      const json = () => registryJson(registry)
      return moveOn(c, { to: page, location: `${page}/${id}`, created: true, json })
    })
    .get('/settings/registries/:id', (c) => {
      const registry = findRegistry(db, { id: c.req.param('id'), ownerId: userOf(c).id })
      const list = { items: [registry], nextCursor: null }
      return show(c, {
        title: registry.host,
        page: () => <RegistriesPage user={userOf(c)} {...list} />,
        partial: () => <RegistryList {...list} />,
        json: () => registryJson(registry),
      })
    })
    .delete('/settings/registries/:id', (c) => {
      const { id, host } = findRegistry(db, { id: c.req.param('id'), ownerId: userOf(c).id })
      deleteRegistry(db, id)
      audit(c, 'registry.removed', { object: { kind: 'registry', id, name: host } })
      return moveOn(c, { to: page, json: () => ({}) })
    })

  function newRegistry(_: Context, draft: Draft) {
    return { title: 'New registry', page: () => <NewRegistryModal draft={draft} /> }
  }
}

export const registryJson = ({ id, host, username, createdAt }: Registry) => ({
  id,
  host,
  username,
  createdAt,
})
