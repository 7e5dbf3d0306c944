import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import type { Action } from '../audit/actions.ts'
import { AppError } from '../platform/errors.ts'
import { placesOf } from '../projects/places.ts'
import { refuseFullNetwork } from '../runtime/addresses.ts'
import { isJson } from '../web/body.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { fieldsOf, textsBut } from '../web/form-fields.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { endsWithin } from '../web/within.ts'
import { definitionOf } from './bring-up.ts'
import { componentsOf, grantsOf, readAhead, templateOf } from './definition.ts'
import { editOf, readForEdit } from './edit.ts'
import { DifferenceModal, DifferencePage, EditForm, EditPage } from './edit-page.tsx'
import { serviceUpdateForm } from './forms.ts'
import { serviceJson, templateJson } from './json.ts'
import type { MakeDeps } from './make.ts'
import { outlineOf } from './outline.ts'
import { checkOwner, liveService, ownService, servicePath, servicePattern } from './own-service.ts'
import { cancelServiceJobs, insertServiceJob } from './service-jobs.ts'
import { sealDefinition } from './sealed-definition.ts'
import { shownService } from './shown.ts'
import { isBusy } from './state.ts'
import { getService, updateService } from './store.ts'
import type { Service } from './store.ts'

/** What is done to an instance once it is there. */
export const changeRoutes = (deps: MakeDeps) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(`${servicePattern}/edit`, async (c) => show(c, await edit(c, emptyDraft)))
    .put(servicePattern, checkOwner(deps), input(serviceUpdateForm, editAgain), async (c) => {
      const { preview, ...asked } = c.var.input
      await readForEdit(deps, { service: liveService(deps, c), input: asked })
      const service = liveService(deps, c) // as it is now: reading took its time
      const isForm = !isJson(c)
      const wanted = editOf(deps, { service, user: userOf(c), input: asked, isForm })
      const { after, domains, changes, remakes, volumes } = wanted
      const sent = textsBut((await fieldsOf(c)) ?? new Map(), aboutTheForm)
      if (preview)
        return show(c, {
          title: `Change ${service.name}`,
          page: () => <DifferencePage service={service} edit={wanted} sent={sent} />,
          partial: () => <DifferenceModal service={service} edit={wanted} />,
          json: () => ({ changes, remakes, volumes }),
        })
      if (changes.length === 0) return answer(c, service)
      if (remakes) {
        refuseBusy(service)
        const workload = { id: service.id }
        await refuseFullNetwork(deps, { workload, wanted: componentsOf(deps, after).length })
      }
      const job = db.transaction(() => {
        updateService(db, service.id, { name: after.name, domains })
        audit(c, 'service.changed', {
          object: objectOf(service),
          details: { changes: changes.map(({ field }) => field).join(', ') },
        })
        return remakes
          ? insertServiceJob(deps, service, 'change', sealDefinition(deps, after))
          : null
      })
      if (!job) return answer(c, service)
      deps.jobs.wake()
      return answer(c, service, deps.jobs.ended(job.id))
    })
    .post(`${servicePattern}/restart`, (c) => act(c, 'service.restarted', 'restart'))
    .post(`${servicePattern}/stop`, (c) => {
      const { name, status } = liveService(deps, c)
      if (status === 'stopped' || status === 'failed')
        throw new AppError('conflict', `${name} does not run: it is ${status}.`)
      return act(c, 'service.stopped', 'stop')
    })
    .post(`${servicePattern}/cancel`, (c) => {
      const service = liveService(deps, c)
      const work = cancelServiceJobs(deps, service)
      audit(c, 'service.cancelled', { object: objectOf(service) })
      return answer(c, service, work)
    })

  function act(c: Context, action: Action, kind: 'restart' | 'stop') {
    const service = liveService(deps, c)
    const { id } = db.transaction(() => {
      audit(c, action, { object: objectOf(service) })
      return insertServiceJob(deps, service, kind)
    })
    deps.jobs.wake()
    return answer(c, service, deps.jobs.ended(id))
  }

  /** A program waits for the end, for a while; a person sees it on the page. */
  async function answer(c: Context, service: Service, work: Promise<void> = Promise.resolve()) {
    const to = servicePath(service)
    if (clientOf(c) !== 'program') return moveOn(c, { to, json: () => ({}) })
    if (!(await endsWithin(deps.config.patience, work))) {
      c.status(202)
      c.header('Location', to)
    }
    const shown = await shownService(deps, getService(db, service.id) ?? service)
    return moveOn(c, { to, json: () => serviceJson(shown, placesOf(deps, shown.service.ownerId)) })
  }

  function refuseBusy({ id, name, status }: Service) {
    if (deps.jobs.isBusy(id) || isBusy(status))
      throw new AppError(
        'conflict',
        `${name} is ${status} just now. Wait until that has ended, or cancel it.`,
      )
  }

  async function edit(c: Context, draft: Draft) {
    const service = ownService(deps, c)
    const definition = ticked(service)
    await readAhead(definition)
    const template = templateOf(definition)
    const props = { service, definition, template, draft, user: userOf(c) }
    return {
      title: `Change ${service.name}`,
      page: () => <EditPage {...props} />,
      json: () => ({
        ...templateJson(service.template, template, outlineOf(template, definition.values)),
        values: shownValues(definition.values, template),
      }),
    }
  }

  /** Without what has lapsed: it is to be ticked again. */
  function ticked(service: Service) {
    const definition = definitionOf(deps, service)
    return { ...definition, allowed: grantsOf(deps, definition) }
  }

  async function editAgain(c: Context, draft: Draft) {
    const view = await edit(c, draft)
    const service = ownService(deps, c)
    const definition = ticked(service)
    const props = { service, definition, template: templateOf(definition), draft, user: userOf(c) }
    return { ...view, partial: () => <EditForm {...props} /> }
  }
}

/** What the form says of itself, and is said again when it is sent again. */
const aboutTheForm = ['csrf_token', '_method', 'preview']

const objectOf = ({ id, name }: Service) => ({ kind: 'service', id, name }) as const

/** Null for what is secret. */
const shownValues = (
  values: ReadonlyMap<string, string>,
  { variables }: ReturnType<typeof templateOf>,
) =>
  Object.fromEntries(
    [...variables.values()]
      .filter(({ hidden }) => !hidden)
      .map(({ name, secret }) => [name, secret ? null : (values.get(name) ?? null)]),
  )
