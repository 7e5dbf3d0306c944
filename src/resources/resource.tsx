import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Context, Handler } from 'hono'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { z, ZodObject, ZodType } from 'zod'
import type { Action, ObjectKind } from '../audit/actions.ts'
import { auditor } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { notFound } from '../platform/errors.ts'
import { checking } from '../web/checks.ts'
import { clientOf } from '../web/client.ts'
import { showsSecret } from '../web/compress.ts'
import { ModalForm } from '../web/dialog.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { Button, PostForm } from '../web/form.tsx'
import { input } from '../web/input.ts'
import { creates, does, lists, listOf, nothing } from '../web/operation.ts'
import { pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { moveOn, show, showSaved } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { SchemaFields } from '../web/schema-fields.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { requireAdmin, userOf } from '../web/user-of.ts'
import { NewButton, ResourceList } from './list.tsx'
import type { Row } from './list.tsx'
import { deleteResource, getResource, listResources, visibleTo } from './store.ts'
import type { ResourceTable } from './store.ts'

/** A new resource, with additions to its response. */
export type Creation = {
  id: string
  /** JSON that is only available now, such as a secret. */
  extra?: object
  /** Replaces the dialog of its form. */
  dialog?: () => JSX.Element
  /** Shown once above the list, if there is no dialog. */
  note?: () => JSX.Element
}

/**
 * Describes a resource that users list, create and remove. Page, dialogs, JSON, OpenAPI operations, owner
 * checks and audit events follow from it.
 */
export type Resource<
  Table extends ResourceTable,
  Form extends ZodType,
  Stored = Table['$inferSelect'],
> = {
  kind: ObjectKind
  /** As in “New git source” and “List your git sources”. */
  noun: string
  plural: string
  /** The path of its page and the prefix of its routes. */
  path: string
  title: string
  /** The tag in the API document. */
  part: string
  table: Table
  /** The owner's id; omitted if all admins share the rows. */
  owner?: SQLiteColumn
  adminOnly?: boolean
  /** Rows that don't match count as missing. */
  where?: () => SQL | undefined
  /** Only these keys of a row are returned. */
  json: ZodObject
  about: Child
  empty: { title: string; text: Child }
  row: (row: Stored) => Omit<Row, 'id'>
  /** The view of a single resource; by default the list with only this one. */
  item?: {
    /** A page or dialog, and JSON in addition to the row's. */
    view: (c: Context<Env>, row: Stored) => Promise<View & { extra: object }>
    schema: ZodType
    note: string
  }
  create: {
    verb: 'Add' | 'Create'
    event: Action
    /** Without a form, a button creates one at once. */
    form?: Form
    /** The label of the form's button, if it isn't the verb and noun. */
    submit?: string
    /** Fields that depend on the user. */
    more?: (c: Context<Env>) => Child
    /** Returns the reason why none can be created on this server, if there is one. */
    off?: () => string | null
    /** Checks the limit and everything that the form alone can't, and stores the row. */
    make: (c: Context<Env>, input: z.output<Form>) => Creation | Promise<Creation>
    details?: (row: Stored) => Record<string, string>
    /** The JSON of a new one, if it has more than others. */
    schema?: ZodType
    /** Added to the summary in the API document. */
    note?: string
  }
  remove: {
    verb: 'Remove' | 'Revoke'
    event: Action
    /** True when the response lists the remaining ones; otherwise it is an empty object. */
    lists?: boolean
    query?: ZodType
    note?: string
    /** Runs instead of deleting the row. A returned response is a dialog for confirmation. */
    run?: (c: Context<Env>, row: Stored) => Response | Promise<Response> | void
  }
}

const past = { Add: 'added', Create: 'created', Remove: 'removed', Revoke: 'revoked' }
const firstPage: Page = { limit: 50 }
const pass = factory.createMiddleware((_, next) => next())

/** Serves the list, the form, creation, a single resource, and removal. */
export function resourceRoutes<Table extends ResourceTable, Form extends ZodType>(
  db: Db,
  resource: Resource<Table, Form>,
) {
  type Stored = Table['$inferSelect'] & { id: string }
  const { path, noun, title, table, json, item, create, remove } = resource
  const audit = auditor(db)
  const operations = operationsOf(resource as never)
  const guard = resource.adminOnly ? requireAdmin : pass
  const checksQuery: typeof pass = remove.query ? (query(remove.query) as never) : pass
  const routes = factory.createApp()
  if (create.form)
    routes
      .get(`${path}/new`, guard, (c) => show(c, newOne(c, emptyDraft)))
      .post(path, guard, input(create.form, newOne), documented('create', created))
  else routes.post(path, guard, documented('create', created))
  return routes
    .get(
      path,
      guard,
      paged(),
      documented('list', (c) => show(c, list(c, c.req.valid('query')))),
    )
    .get(
      `${path}/:id`,
      guard,
      documented('get', async (c: Context<Env>) => {
        const row = find(c)
        if (!item) return show(c, list(c, firstPage, { only: row }))
        const { extra, ...view } = await item.view(c, row)
        return show(c, { ...view, json: () => ({ ...shown(row), ...extra }) })
      }),
    )
    .delete(
      `${path}/:id`,
      guard,
      checksQuery,
      documented('remove', async (c: Context<Env>) => {
        const row = find(c)
        const answer = await remove.run?.(c, row)
        if (answer) return answer
        if (!remove.run) deleteResource(db, table, row.id, noun)
        audit(c, remove.event, { object: objectOf(row) })
        const view = list(c, firstPage)
        const json = () => (remove.lists ? view.json() : {})
        const done = { to: path, said: saidOf(remove.verb), json }
        return remove.run ? moveOn(c, done) : showSaved(c, { ...view, ...done })
      }),
    )

  async function created(c: Context) {
    const { id, extra, dialog, note } = await create.make(c, c.get('input'))
    const row = find(c, id)
    audit(c, create.event, {
      object: objectOf(row),
      ...(create.details && { details: create.details(row) }),
    })
    if (note) showsSecret(c)
    const json = () => ({ ...shown(row), ...extra })
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

  /** Attaches the operation for the API document to a handler. */
  function documented<H extends Handler<any>>(does: keyof typeof operations, handler: H) {
    const operation = () => ({ part: resource.part, ...operations[does]() })
    return checking({ operation }, handler)
  }

  function find(c: Context, id = c.req.param('id')!): Stored {
    const row = getResource(db, rowsOf(c), id)
    if (!row) throw notFound(noun)
    return row as Stored
  }

  function rowsOf(c: Context) {
    return { table, visible: visibleTo(userOf(c).id, resource) }
  }

  function list(
    c: Context,
    page: Page,
    as: { only?: Stored; note?: (() => JSX.Element) | undefined; isOob?: boolean } = {},
  ) {
    const rows = as.only ? [as.only] : (listResources(db, rowsOf(c), page) as Stored[])
    const { items, nextCursor } = pageOf(rows, page)
    const off = create.off?.() ?? null
    const json = () => (as.only ? shown(as.only) : { items: items.map(shown), nextCursor })
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
    if (create.form) return <NewButton path={path} noun={noun} />
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
        <SchemaFields schema={create.form!} />
        {create.more?.(c)}
      </ModalForm>
    )
    return { title: `New ${noun}`, page }
  }

  function shown(row: Table['$inferSelect']) {
    const keys = Object.keys(json.shape)
    return Object.fromEntries(keys.map((key) => [key, (row as Record<string, unknown>)[key]]))
  }

  function objectOf(row: Stored) {
    return { kind: resource.kind, id: row.id, name: resource.row(row).name ?? null }
  }

  function saidOf(verb: keyof typeof past) {
    return `${noun.replace(/^./, (letter) => letter.toUpperCase())} ${past[verb]}.`
  }
}

/** By the part of a handler. */
function operationsOf({ noun, plural, json, item, create, remove }: Resource<never, never>) {
  const one = `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
  const others = remove.lists ? listOf(json) : nothing
  return {
    list: () => lists(`List ${plural}`, json),
    get: () => does(`Get ${one}${item?.note ?? ''}`, item?.schema ?? json),
    create: () => creates(`${create.verb} ${one}${create.note ?? ''}`, create.schema ?? json),
    remove: () => does(`${remove.verb} ${one}${remove.note ?? ''}`, others),
  }
}
