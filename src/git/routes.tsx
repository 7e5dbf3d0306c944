import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { AppError } from '../platform/errors.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { userOf } from '../web/user-of.ts'
import { addSource } from './add-source.ts'
import { sourceForm, sourceRemovalQuery } from './forms.ts'
import type { TokenOwner } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import { accessTo } from './source-access.ts'
import type { SourceDeps } from './source-access.ts'
import { NewSourceModal, RemoveSourceModal, SourceModal } from './source-modals.tsx'
import {
  deleteSource,
  findSource,
  listProjectsOfSource,
  listSources,
  type Source,
} from './store.ts'
import { SourceList } from './views.tsx'

const firstPage: Page = { limit: 50 }

/** A user's connections to providers. A token goes in and never comes out. */
export const gitSourceRoutes = (deps: SourceDeps) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/settings/git', paged(), (c) => {
      const list = pageOf(ownSources(c, c.req.valid('query')), c.req.valid('query'))
      const view = settingsView(c, {
        title: 'Git sources',
        path: '/settings/git',
        list: () => <SourceList {...list} />,
        json: () => ({ ...list, items: list.items.map(sourceJson) }),
      })
      return show(c, view)
    })
    .get('/settings/git/new', (c) => show(c, newSource(c, emptyDraft)))
    .post('/settings/git', input(sourceForm(deps.config), newSource), async (c) => {
      const asked = { ownerId: userOf(c).id, input: c.var.input, signal: c.req.raw.signal }
      const { source, owner } = await addSource(deps, asked)
      const { id, name, provider, baseUrl } = source
      const details = { provider, baseUrl }
      audit(c, 'source.added', { object: { kind: 'source', id, name }, details })
      if (clientOf(c) === 'partial') return show(c, checked(c, source, owner))
      const json = () => checkedSourceJson(source, owner)
      return moveOn(c, {
        to: `/settings/git/${id}`,
        said: 'Git source added.',
        created: true,
        json,
      })
    })
    .get('/settings/git/:id', async (c) => {
      const source = own(c)
      const access = accessTo(deps, { source, signal: c.req.raw.signal })
      return show(c, checked(c, source, await providers[source.provider].whoIs(access)))
    })
    .delete('/settings/git/:id', query(sourceRemovalQuery), (c) => {
      const source = own(c)
      const used = listProjectsOfSource(db, source.id)
      const { confirm, force } = c.req.valid('query')
      if (used.length > 0 && !confirm && !force) {
        if (clientOf(c) === 'program') throw inUse(source, used)
        const page = () => <RemoveSourceModal source={source} projects={used} />
        return show(c, { title: `Remove ${source.name}`, page }, 409)
      }
      deleteSource(db, source.id)
      const object = { kind: 'source', id: source.id, name: source.name } as const
      audit(c, 'source.removed', { object })
      return moveOn(c, { to: '/settings/git', said: 'Git source removed.', json: () => ({}) })
    })

  function own(c: Context) {
    return findSource(db, { id: c.req.param('id')!, ownerId: userOf(c).id })
  }

  function ownSources(c: Context, page: Page) {
    return listSources(db, { ownerId: userOf(c).id, ...page })
  }

  function newSource(_: Context, draft: Draft) {
    return { title: 'New git source', page: () => <NewSourceModal draft={draft} /> }
  }

  /** The response for a dialog updates the list behind it. */
  function checked(c: Context, source: Source, owner: TokenOwner) {
    return {
      title: source.name,
      page: () => <SourceModal source={source} owner={owner} />,
      partial: () => (
        <>
          <SourceModal source={source} owner={owner} />
          <SourceList {...pageOf(ownSources(c, firstPage), firstPage)} oob />
        </>
      ),
      json: () => checkedSourceJson(source, owner),
    }
  }
}

function inUse({ name }: Source, projects: { name: string }[]) {
  const names = projects.map((project) => project.name).join(', ')
  const message = `The git source ${name} is used by ${names}. Use ?confirm=1 to remove it from them, too.`
  return new AppError('conflict', message)
}

const sourceJson = ({ ownerId, ...source }: Source) => source

/** With what the provider reports about the token; `rights` is null when it doesn't. */
const checkedSourceJson = (source: Source, { login, rights, missing }: TokenOwner) => ({
  ...sourceJson(source),
  login: login ?? source.login,
  rights,
  missing,
})
