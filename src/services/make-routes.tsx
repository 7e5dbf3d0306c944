import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { auditor } from '../audit/record.ts'
import { AppError } from '../platform/errors.ts'
import { placesOf } from '../projects/places.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import type { Catalogue } from './catalogue.ts'
import { ComposeDetails, ComposePage } from './compose-page.tsx'
import type { Read } from './compose-page.tsx'
import { ConfigurePage } from './configure-page.tsx'
import { anyServiceForm, ownFileForm, ownServiceForm, serviceForm } from './forms.ts'
import { serviceJson, templateJson } from './json.ts'
import { makeService } from './make.ts'
import type { MakeDeps, Wanted } from './make.ts'
import { outlineOf } from './outline.ts'
import { ownFile, readOwnFile } from './own-file.ts'
import { servicePath } from './own-service.ts'
import { shownService } from './shown.ts'
import { listNames } from './store.ts'
import { composeText, uploadedText } from './uploaded.ts'

type Opened = Awaited<ReturnType<Catalogue['open']>>

/** From a template, or a file of the user's own, to an instance that starts. */
export const makeRoutes = (deps: MakeDeps, catalogue: Catalogue) => {
  const audit = auditor(deps.db)

  /** Before the body is looked at: a template that is unknown is missing, whatever was sent to it. */
  const known = createMiddleware<Env & { Variables: { opened: Opened } }>(
    async function openTemplate(c, next) {
      c.set('opened', await catalogue.open(c.req.param('template')!))
      await next()
    },
  )

  return factory
    .createApp()
    .get('/services/compose/configure', (c) => show(c, ownForm(c, emptyDraft, null)))
    .post('/services/compose/configure', input(ownFileForm), async (c) => {
      const { env } = c.var.input
      const text = await composeText(c, c.var.input.compose)
      const template = await readOwnFile(text, env ?? null, readerOf(c))
      return show(
        c,
        ownForm(c, draftOf(c.var.input, text), { template, outline: outlineOf(template) }),
      )
    })
    .post('/services/compose', input(ownServiceForm, ownFormAgain), async (c) => {
      const { compose, env = null, ...asked } = c.var.input
      const text = await composeText(c, compose)
      const template = await readOwnFile(text, env, readerOf(c))
      return make(c, { name: ownFile, text, env, template, input: asked })
    })
    .get('/services/:template/configure', known, (c) => {
      const name = c.req.param('template')
      const { template } = c.var.opened
      return show(c, form(c, { name, template, draft: emptyDraft }))
    })
    .post('/services', input(anyServiceForm), (c) => makeNamed(c, c.var.input))
    .post('/services/deploy', input(anyServiceForm), (c) => makeNamed(c, c.var.input))
    .post('/services/:template', known, input(serviceForm, formAgain), (c) =>
      make(c, { name: c.req.param('template'), ...c.var.opened, input: c.var.input }),
    )

  async function makeNamed(c: Context, asked: (typeof anyServiceForm)['_output']) {
    const { template: name, ...rest } = asked
    return make(c, { name, ...(await catalogue.open(name)), input: rest })
  }

  async function make(c: Context, wanted: Omit<Wanted, 'owner'>) {
    const service = makeService(deps, { owner: userOf(c), ...wanted })
    const { id, name, template, version } = service
    audit(c, 'service.created', {
      object: { kind: 'service', id, name },
      details: { template, ...(version && { version }) },
    })
    const shown = await shownService(deps, service)
    const json = () => serviceJson(shown, placesOf(deps, shown.service.ownerId))
    return moveOn(c, { to: servicePath(service), created: true, json })
  }

  async function formAgain(c: Context, draft: Draft) {
    const name = c.req.param('template')!
    const { template } = await catalogue.open(name)
    return form(c, { name, template, draft })
  }

  function form(
    c: Context,
    { name, template, draft }: { name: string; template: Opened['template']; draft: Draft },
  ) {
    const user = userOf(c)
    const outline = outlineOf(template)
    const suggestion = freeName(name, listNames(deps.db, user.id))
    return {
      title: `New ${template.about.name}`,
      page: () => <ConfigurePage {...{ name, template, outline, suggestion, draft, user }} />,
      json: () => templateJson(name, template, outline),
    }
  }

  function ownForm(c: Context, draft: Draft, opened: Read) {
    const props = { opened, draft, user: userOf(c) }
    return {
      title: 'Bring your own',
      page: () => <ComposePage {...props} />,
      ...(opened && { partial: () => <ComposeDetails {...props} /> }),
      json: () => (opened ? templateJson(ownFile, opened.template, opened.outline) : {}),
    }
  }

  async function ownFormAgain(c: Context, draft: Draft) {
    const text = draft.values.compose || (await uploadedText(c).catch(() => null)) || ''
    const withText = { ...draft, values: { ...draft.values, compose: text } }
    const { partial: _, ...view } = ownForm(
      c,
      withText,
      await openedOrNull(c, text, draft.values.env ?? null),
    )
    return view
  }
}

/** What the file asks for is shown with the complaint, where it can be read. */
async function openedOrNull(c: Context, text: string, env: string | null): Promise<Read> {
  try {
    const template = await readOwnFile(text, env, readerOf(c))
    return { template, outline: outlineOf(template) }
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

const readerOf = (c: Context) => ({ owner: userOf(c).id, signal: c.req.raw.signal })

/** What was typed, for the page in a browser without scripts. */
const draftOf = (
  { name, env }: { name?: string | null | undefined; env?: string | null | undefined },
  compose: string,
): Draft => ({ ...emptyDraft, values: { name: name ?? '', env: env ?? '', compose } })

function freeName(wanted: string, taken: string[]) {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`
    if (!taken.includes(name)) return name
  }
}
