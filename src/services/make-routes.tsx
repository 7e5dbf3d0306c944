import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { served } from '../addresses/urls.ts'
import type { Serving } from '../addresses/urls.ts'
import { auditor } from '../audit/record.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { uploadedText } from '../web/form-fields.ts'
import { readBody } from '../web/body.ts'
import { input } from '../web/input.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import type { Catalogue } from './catalogue.ts'
import { maxFileBytes } from '../platform/yaml.ts'
import { dotenv } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import type { Values } from './compose/variables.ts'
import { drawnAgain } from './file-fields.tsx'
import { anyServiceForm, ownFileForm, ownServiceForm, serviceForm, typedValues } from './forms.ts'
import { serviceJson, templateJson } from './json.ts'
import { aboutNew, freeName, makeService } from './make.ts'
import type { MakeDeps, NewService } from './make.ts'
import { ComposeDetails, ComposePage, ConfigurePage } from './new-service-pages.tsx'
import { ownFile, readOwnFile } from './own-file.ts'
import { servicePath } from './own-service.ts'
import { placeable } from './placement.ts'
import { shownService } from './shown.ts'
import { listNames } from './store.ts'

type Opened = Awaited<ReturnType<Catalogue['open']>>

/** Creates and starts instances from a template or a user's own file. */
export const makeRoutes = (deps: MakeDeps & Serving, catalogue: Catalogue) => {
  const audit = auditor(deps.db)

  /** Checked before the body, so that an unknown template is not found, whatever was sent. */
  const known = createMiddleware<Env & { Variables: { opened: Opened } }>(
    async function openTemplate(c, next) {
      c.set('opened', await catalogue.open(c.req.param('template')!))
      await next()
    },
  )

  return factory
    .createApp()
    .get('/services/compose/configure', async (c) => show(c, await ownForm(c, emptyDraft, null)))
    .post('/services/compose/configure', input(ownFileForm), async (c) => {
      const compose = await composeText(c, c.var.input.compose)
      const file = await readOwn(c, compose, c.var.input.env)
      const { values } = await readBody(c)
      const draft = { ...emptyDraft, values: { ...values, compose } }
      return show(c, await ownForm(c, draft, file, typedValues(file, c.var.input)))
    })
    .get('/services/compose', (c) => c.redirect('/services/compose/configure', 303))
    .post('/services/compose', input(ownServiceForm, ownFormAgain), async (c) => {
      const { compose: typed, env = null, ...asked } = c.var.input
      const compose = await composeText(c, typed)
      const file = await readOwn(c, compose, env)
      const values = new Map(env === null ? [] : [[dotenv, env]])
      return make(c, { template: ownFile, compose, values, file, input: asked })
    })
    .get('/services/:template/configure', known, async (c) => show(c, await form(c, emptyDraft)))
    .on('POST', ['/services', '/services/deploy'], input(anyServiceForm), async (c) => {
      const { template, ...asked } = c.var.input
      return make(c, { template, ...(await catalogue.open(template)), input: asked })
    })
    .post('/services/:template', known, input(serviceForm, form), (c) =>
      make(c, { template: c.req.param('template'), ...c.var.opened, input: c.var.input }),
    )

  async function make(c: Context, wanted: Omit<NewService, 'owner'>) {
    const service = makeService(deps, { owner: userOf(c), ...wanted }, (service) => {
      audit(c, 'service.created', aboutNew(service))
    })
    if (wanted.input.domains) await served(deps)
    const shown = await shownService(deps, service)
    const json = () => serviceJson(shown)
    return moveOn(c, { to: servicePath(service), created: true, said: 'Service created.', json })
  }

  async function form(c: Context, typed: Draft) {
    const name = c.req.param('template')!
    const { file }: Opened = c.get('opened')
    const draft = await drawnAgain(c, typed, file)
    const user = userOf(c)
    const suggestion = freeName(name, listNames(deps.db, user.id))
    return {
      title: `New ${file.about.name}`,
      page: () => (
        <ConfigurePage {...{ name, file, suggestion, draft, user, servers: placeable(deps) }} />
      ),
      json: () => templateJson(name, file),
    }
  }

  async function ownForm(c: Context, typed: Draft, file: Template | null, values?: Values) {
    const draft = file ? await drawnAgain(c, typed, file) : typed
    const props = { file, draft, user: userOf(c), servers: placeable(deps) }
    return {
      title: 'Bring your own',
      page: () => <ComposePage {...props} />,
      ...(file && { partial: () => <ComposeDetails {...props} /> }),
      json: () => (file ? templateJson(ownFile, file, values) : {}),
    }
  }

  /** The form with the errors, and with the file's own fields if the file is valid. */
  async function ownFormAgain(c: Context, draft: Draft) {
    const { env = null } = draft.values
    const compose = draft.values.compose || (await uploadedFile(c).catch(() => null)) || ''
    const file = await readOwn(c, compose, env).catch((error) => {
      if (error instanceof AppError) return null
      throw error
    })
    const values = { ...draft.values, compose }
    const { partial: _, ...view } = await ownForm(c, { ...draft, values }, file)
    return view
  }
}

async function composeText(c: Context, typed: string | null | undefined): Promise<string> {
  const text = typed || (await uploadedFile(c))
  if (!text) throw invalidField('compose', 'must be the text of a Compose file, or an upload.')
  return text
}

const uploadedFile = (c: Context) => uploadedText(c, 'compose', { max: maxFileBytes })

const readOwn = (c: Context, compose: string, env: string | null = null) =>
  readOwnFile(compose, env, { owner: userOf(c).id, signal: c.req.raw.signal })
