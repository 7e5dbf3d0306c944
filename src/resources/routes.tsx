import type { Context } from 'hono'
import type { z, ZodType } from 'zod'
import { auditor } from '../audit/record.ts'
import { withDefaults } from '../db/columns.ts'
import type { Db } from '../db/index.ts'
import { found } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { isJson } from '../web/body.ts'
import { clientOf } from '../web/client.ts'
import { ShownOnce } from '../web/components.tsx'
import { showsSecret } from '../web/compress.ts'
import { ModalForm } from '../web/dialog.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { shown } from '../web/operation.ts'
import { firstPage, pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { moveOn, show, showSaved } from '../web/respond.tsx'
import { kindLook } from '../web/schema-fields.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { ownFirst, pass, requireAdmin, userOf } from '../web/user-of.ts'
import { changedFields, completed, partial, refuseKind, refuseUnoffered } from './change.ts'
import { ResourceForm, SecretDialog } from './form.tsx'
import { completeRow, NewButton, past, ResourceList } from './list.tsx'
import type { ListOptions } from './list.tsx'
import { refuseUsed, removalCheck, removalOf } from './removal.tsx'
import { eventOf, idIn } from './resource.ts'
import type { Creation, Resource } from './resource.ts'
import { asBefore, changeOwned, deleteRow, getVisible, insertOwned, listVisible } from './store.ts'
import type { ResourceTable } from './store.ts'

/** Serves the list, the forms, creation, a single resource, its changes and acts, and its removal. */
export function resourceRoutes<
  Deps extends { db: Db; secrets?: Secrets },
  Table extends ResourceTable,
  Form extends ZodType,
  Seen,
>(deps: Deps, resource: Resource<Deps, Table, Form, Seen> & { noun: string; none: string }) {
  type Stored = Table['$inferSelect'] & { id: string }
  const { db, secrets } = deps
  const { path, noun, title, table, json, item, parent, create, change, remove, sealed } = resource
  const { acts = {}, see = (_: Deps, row: Stored) => row as Seen } = resource
  const id = idIn(resource)
  const ofOne = `${path}/:${id}` as const
  const audit = auditor(db)
  const guard = resource.adminOnly ? requireAdmin : pass
  const checksQuery: typeof pass = remove.users ? (removalCheck(remove.users) as never) : pass
  /** Before the body is read: someone else's is missing, whatever was sent. */
  const ownIt = ownFirst((c) => {
    ownerOf(c, { isChange: true })
    if (c.req.param(id)) find(c)
  })
  const form = create.form(deps)
  const changeForm = change && (change.form?.() ?? form)
  const routes = factory
    .createApp()
    .get(`${path}/new`, guard, (c) => show(c, formOf(c, emptyDraft)))
    .post(path, guard, ownIt, input(form, formOf), created)
  if (changeForm)
    routes
      .get(`${ofOne}/edit`, guard, (c) => show(c, formOf(c, emptyDraft, find(c))))
      .put(
        ofOne,
        guard,
        ownIt,
        input(changeForm, (c, draft) => formOf(c, draft, find(c)), {
          sent: partial(changeForm),
          complete(c, data) {
            c.set('sent', data)
            c.set('row', find(c))
            const how = { secrets, form: changeForm, row: c.get('row'), isForm: !isJson(c) }
            return completed(resource, how, data)
          },
        }),
        changed,
      )
  for (const [name, act] of Object.entries(acts)) {
    const { button, preview, creates: created = false } = act
    routes.post(`${ofOne}/${name}`, guard, ownIt, async (c: Context<Env>) => {
      const row = find(c)
      const { to = pathIn(c), json = () => jsonOf(find(c)), said } = await act.run(deps, c, row)
      audit(c, eventOf(resource, name), { object: auditOf(c, row) })
      return moveOn(c, { to, said, created, json })
    })
    if (!preview) continue
    routes.get(`${ofOne}/${name}`, guard, async (c: Context<Env>) => {
      const row = find(c)
      const { text, json } = await preview.view(deps, row)
      const of = nameOf(c, row)
      return show(c, {
        title: `${button} ${of}`,
        page: () => (
          <ModalForm
            title={[`${button} `, <bdi>{of}</bdi>]}
            submit={`${button} ${noun}`}
            action={`${pathIn(c)}/${row.id}/${name}`}
            from={crumb(c)}
          >
            {text}
          </ModalForm>
        ),
        json: () => json,
      })
    })
  }
  return routes
    .get(path, guard, paged(), (c) => show(c, list(c, c.req.valid('query'))))
    .get(ofOne, guard, async (c: Context<Env>) => {
      const row = find(c)
      const below = await resource.below?.(deps, row, c)
      if (!item) return show(c, list(c, firstPage, { only: row, below }))
      const { extra, ...view } = await item.view(deps, c, row)
      return show(c, { ...view, json: () => ({ ...jsonOf(row), ...extra }) })
    })
    .delete(ofOne, guard, ownIt, checksQuery, removed)

  async function created(c: Context) {
    refuseUnoffered(create.options?.(deps, c), c.get('input'))
    const made = await (create.make ?? makeRow)(deps, c, c.get('input'))
    resource.stored?.(deps)
    const { extra, once } = made
    const row = made.id === null ? null : find(c, made.id)
    const name = row ? nameOf(c, row) : made.name!
    const note = once && (() => <ShownOnce {...once} />)
    const dialog =
      made.dialog ??
      (once && (() => <SecretDialog {...once} {...{ noun }} at={crumb(c)} of={name} />))
    const details = row && create.details && { details: create.details(row) }
    if (row) audit(c, eventOf(resource, past[create.verb]), { object: auditOf(c, row), ...details })
    if (note) showsSecret(c)
    const json = () => ({ ...(row && jsonOf(row)), ...extra })
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
    const at = pathIn(c)
    const location = row ? `${at}/${row.id}` : at
    const done = { location, created: true, said: saidOf(create.verb), json }
    return moveOn(c, { ...done, to: dialog ? location : at })
  }

  async function makeRow(_: Deps, c: Context<Env>, input: z.output<Form>): Promise<Creation> {
    const { values, dialog, also, ...rest } = await checked(c, input)
    const made = insertOwned(deps, resource, { ownerId: ownerOf(c), values, also })
    return { id: made, ...rest, ...(dialog && { dialog: () => dialog(find(c, made)) }) }
  }

  async function changed(c: Context) {
    const { values, also } = await checked(c, c.get('input'), c.get('row'))
    const before = asBefore(noun, { now: find(c), row: c.get('row'), input: c.get('input') })
    changeOwned(deps, resource, { id: before.id, ownerId: ownerOf(c), values, also })
    resource.stored?.(deps)
    const after = find(c)
    const changes = changedFields(resource, { before, after, sent: c.get('sent') }).join(', ')
    if (changes)
      audit(c, eventOf(resource, 'changed'), { object: auditOf(c, after), details: { changes } })
    return moveOn(c, { to: pathIn(c), said: saidOf('Save'), json: () => jsonOf(after) })
  }

  async function checked(c: Context, input: z.output<Form>, row?: Stored) {
    const isAdmin = userOf(c).role === 'admin'
    if (!isAdmin) refuseKind(form, input as object)
    if (row) refuseUnoffered(create.options?.(deps, c), input as object, row)
    const request = { signal: c.req.raw.signal, isToken: !!c.var.token, isAdmin }
    const change = { before: row ?? {}, after: withDefaults(table, input as never) }
    const changes = changedFields(resource, { ...change, sent: c.get('sent') ?? input })
    const by = { ownerId: ownerOf(c), changes, ...request, ...(row && { row }) }
    const { columns, ...rest } = (await create.check?.(deps, input, by)) ?? {}
    return { values: { ...(input as object), ...columns }, ...rest }
  }

  async function removed(c: Context<Env>) {
    const row = find(c)
    const to = pathIn(c)
    const { list: usersOf, lost, ...users } = remove.users ?? {}
    const refusal = refuseUsed(c, {
      ...{ ...users, name: nameOf(c, row) ?? noun, noun, verb: remove.verb },
      ...{ users: usersOf?.(deps, row) ?? [], lost: lost?.(deps, row) ?? null },
      ...{ action: `${to}/${row.id}`, from: crumb(c) },
    })
    if (refusal) return refusal
    const how = { givesUp: removalOf(c).volumes === 'give_up', isToken: !!c.var.token }
    if (remove.run) await remove.run(deps, row, how)
    else deleteRow(db, table, row.id, noun)
    resource.stored?.(deps)
    audit(c, eventOf(resource, past[remove.verb]), { object: auditOf(c, row) })
    const view = list(c, firstPage)
    const done = { to, said: saidOf(remove.verb), json: () => (remove.lists ? view.json() : {}) }
    const isElsewhere = c.req.header('HX-Target') === 'main#main' // a form of another page
    return remove.users || isElsewhere ? moveOn(c, done) : showSaved(c, { ...view, ...done })
  }

  function ownerOf(c: Context, { isChange = false } = {}) {
    return parent ? parent.find(deps, c, { isChange }).id : userOf(c).id
  }

  function find(c: Context, key = c.req.param(id)!): Stored {
    return found(noun, getVisible(db, resource, { id: key, ownerId: ownerOf(c) })) as Stored
  }

  function pathIn(c: Context) {
    return path.replace(/:(\w+)/g, (_, name: string) => c.req.param(name)!)
  }

  function crumb(c: Context) {
    return { href: pathIn(c), name: title }
  }

  function list(c: Context, page: Page, as: ListOptions<Stored> = {}) {
    const visible = () => listVisible(db, resource, { ...page, ownerId: ownerOf(c) })
    const { items, nextCursor } = pageOf(as.only ? [as.only] : (visible() as Stored[]), page)
    const off = create.off?.(deps) ?? null
    const before = as.only || page.cursor ? [] : (resource.before?.(deps) ?? [])
    const at = pathIn(c)
    const json = () => (as.only ? jsonOf(as.only) : { items: items.map(jsonOf), nextCursor })
    const shownList = {
      title: (as.only && nameOf(c, as.only)) ?? title,
      list: () => (
        <ResourceList
          {...{ path: at, title, nextCursor, acts }}
          about={resource.about}
          empty={{ title: resource.none, text: off ?? resource.empty }}
          action={!off && <NewButton path={at} noun={noun} />}
          note={as.note?.()}
          rows={[...before, ...items.map((row) => rowOf(c, row))]}
          mayChange={!!change}
          remove={{ verb: remove.verb, noun, asks: !!remove.users }}
          isLive={!!parent}
          isOob={as.isOob ?? false}
          below={as.below}
        />
      ),
    }
    const view = parent
      ? { partial: shownList.list, ...parent.view(deps, c, shownList) }
      : settingsView(c, { path: at, ...shownList })
    return { ...view, json }
  }

  function formOf(c: Context, draft: Draft, row?: Stored) {
    ownerOf(c)
    const submit = row ? change!.submit : create.submit
    const kind = (row?.kind as string) ?? draft.values.kind ?? c.req.query('kind')
    return {
      title: row ? `Edit ${nameOf(c, row)}` : `New ${noun}`,
      page: () => (
        <ResourceForm
          {...{
            noun,
            draft,
            sealed,
            kind,
            schema: (row && change!.form?.(row)) ?? form,
            options: create.options?.(deps, c),
            more: create.more?.(deps, c),
          }}
          at={crumb(c)}
          isAdmin={userOf(c).role === 'admin'}
          row={row && { name: nameOf(c, row), stored: { ...row, ...change!.shown?.(row) } }}
          submit={submit ?? (row ? 'Save changes' : `${create.verb} ${noun}`)}
        />
      ),
      ...(row && { json: () => jsonOf(row) }),
    }
  }

  function jsonOf(row: Stored) {
    return shown(json, see(deps, row) as never)
  }

  function nameOf(c: Context, row: Stored) {
    return rowOf(c, row).name ?? null
  }

  function rowOf(c: Context, row: Stored) {
    const kind = kindLook(form, row.kind)?.label
    const described = resource.row?.(see(deps, row), c)
    return completeRow(row, described, { noun, kind, ...remove, made: create.verb })
  }

  function auditOf(c: Context, row: Stored) {
    const name = nameOf(c, row)
    const of = parent?.find(deps, c, { isChange: false }).name
    return { kind: resource.kind, id: row.id, name: of ? `${name} of ${of}` : name }
  }

  function saidOf(verb: keyof typeof past) {
    return `${noun.replace(/^./, (letter) => letter.toUpperCase())} ${past[verb]}.`
  }
}
