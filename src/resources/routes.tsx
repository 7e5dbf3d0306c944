import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { z, ZodType } from 'zod'
import { auditor } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { found } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { clientOf } from '../web/client.ts'
import { showsSecret } from '../web/compress.ts'
import { ModalForm } from '../web/dialog.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { Button, PostForm } from '../web/form.tsx'
import { input } from '../web/input.ts'
import { shown } from '../web/operation.ts'
import { pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { moveOn, show, showSaved } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { SchemaFields } from '../web/schema-fields.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { requireAdmin, userOf } from '../web/user-of.ts'
import { NewButton, ResourceList } from './list.tsx'
import type { Creation, Resource } from './resource.ts'
import { deleteRow, getVisible, insertOwned, listVisible } from './store.ts'
import type { ResourceTable } from './store.ts'

const past = { Add: 'added', Create: 'created', Remove: 'removed', Revoke: 'revoked' }
const firstPage: Page = { limit: 50 }
const pass = factory.createMiddleware((_, next) => next())

/** Serves the list, the form, creation, a single resource, and removal. */
export function resourceRoutes<
  Deps extends { db: Db; secrets?: Secrets },
  Table extends ResourceTable,
  Form extends ZodType,
>(deps: Deps, resource: Resource<Deps, Table, Form>) {
  type Stored = Table['$inferSelect'] & { id: string }
  const { db } = deps
  const { path, noun, title, table, json, item, create, remove } = resource
  const audit = auditor(db)
  const guard = resource.adminOnly ? requireAdmin : pass
  const checksQuery: typeof pass = remove.query ? (query(remove.query) as never) : pass
  const form = create.form?.(deps)
  const routes = factory.createApp()
  if (form)
    routes
      .get(`${path}/new`, guard, (c) => show(c, newOne(c, emptyDraft)))
      .post(path, guard, input(form, newOne), created)
  else routes.post(path, guard, created)
  return routes
    .get(path, guard, paged(), (c) => show(c, list(c, c.req.valid('query'))))
    .get(`${path}/:id`, guard, async (c: Context<Env>) => {
      const row = find(c)
      if (!item) return show(c, list(c, firstPage, { only: row }))
      const { extra, ...view } = await item.view(deps, c, row)
      return show(c, { ...view, json: () => ({ ...jsonOf(row), ...extra }) })
    })
    .delete(`${path}/:id`, guard, checksQuery, async (c: Context<Env>) => {
      const row = find(c)
      const answer = await remove.run?.(deps, c, row)
      if (answer) return answer
      if (!remove.run) deleteRow(db, table, row.id, noun)
      audit(c, remove.event, { object: objectOf(row) })
      const view = list(c, firstPage)
      const done = { to: path, said: saidOf(remove.verb) }
      const left = () => (remove.lists ? view.json() : {})
      return remove.run
        ? moveOn(c, { ...done, json: left })
        : showSaved(c, { ...view, ...done, json: left })
    })

  async function created(c: Context) {
    const { id, extra, dialog, note } = await (create.make ?? makeRow)(deps, c, c.get('input'))
    const row = find(c, id)
    audit(c, create.event, {
      object: objectOf(row),
      ...(create.details && { details: create.details(row) }),
    })
    if (note) showsSecret(c)
    const json = () => ({ ...jsonOf(row), ...extra })
    const isDialog = dialog && clientOf(c) === 'partial'
    if (isDialog || (note && clientOf(c) !== 'program')) {
      const partial = () => (
        <>
          {dialog!()}
          {list(c, firstPage, { isOob: true }).partial!()}
        </>
      )
      const view = list(c, firstPage, { note })
      return show(c, isDialog ? { ...view, partial } : view)
    }
    const location = `${path}/${id}`
    const to = dialog ? location : path
    return moveOn(c, { to, location, created: true, said: saidOf(create.verb), json })
  }

  async function makeRow(_: Deps, c: Context<Env>, values: z.output<Form>): Promise<Creation> {
    await create.check?.(deps, values, c.req.raw.signal)
    return {
      id: insertOwned(deps, resource, { userId: userOf(c).id, values: { ...(values as object) } }),
    }
  }

  function find(c: Context, id = c.req.param('id')!): Stored {
    return found(noun, getVisible(db, resource, { id, userId: userOf(c).id })) as Stored
  }

  function list(
    c: Context,
    page: Page,
    as: { only?: Stored; note?: (() => JSX.Element) | undefined; isOob?: boolean } = {},
  ) {
    const visible = () => listVisible(db, resource, { ...page, userId: userOf(c).id })
    const rows = as.only ? [as.only] : (visible() as Stored[])
    const { items, nextCursor } = pageOf(rows, page)
    const off = create.off?.(deps) ?? null
    const json = () => (as.only ? jsonOf(as.only) : { items: items.map(jsonOf), nextCursor })
    const view = settingsView(c, {
      path,
      title: (as.only && resource.row(as.only).name) ?? title,
      list: () => (
        <ResourceList
          {...{ path, title, nextCursor }}
          about={resource.about}
          empty={off ? { ...resource.empty, text: off } : resource.empty}
          action={!off && newButton()}
          note={as.note?.()}
          rows={items.map((row) => ({ id: row.id, ...resource.row(row) }))}
          remove={{ verb: remove.verb, noun, asks: !!remove.run }}
          isOob={as.isOob ?? false}
        />
      ),
    })
    return { ...view, json }
  }

  function newButton() {
    if (form) return <NewButton path={path} noun={noun} />
    // a form of the page, as its response shows the secret once; a redirect would lose it
    return (
      <PostForm action={path}>
        <Button>
          {create.verb} {noun}
        </Button>
      </PostForm>
    )
  }

  function newOne(c: Context, draft: Draft): View {
    const page = () => (
      <ModalForm
        title={`New ${noun}`}
        from={{ href: path, name: title }}
        action={path}
        submit={create.submit ?? `${create.verb} ${noun}`}
        draft={draft}
      >
        <SchemaFields schema={form!} autofocus />
        {create.more?.(deps, c)}
      </ModalForm>
    )
    return { title: `New ${noun}`, page }
  }

  function jsonOf(row: Table['$inferSelect']) {
    return shown(json, row)
  }

  function objectOf(row: Stored) {
    return { kind: resource.kind, id: row.id, name: resource.row(row).name ?? null }
  }

  function saidOf(verb: keyof typeof past) {
    return `${noun.replace(/^./, (letter) => letter.toUpperCase())} ${past[verb]}.`
  }
}
