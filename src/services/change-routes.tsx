import type { Context } from 'hono'
import { setHosts } from '../addresses/store.ts'
import { served } from '../addresses/urls.ts'
import type { Serving } from '../addresses/urls.ts'
import { auditor } from '../audit/record.ts'
import type { Action } from '../audit/actions.ts'
import { AppError } from '../platform/errors.ts'
import { hasJob } from '../jobs/store.ts'
import { refuseFullNetwork } from '../runtime/addresses.ts'
import { isJson } from '../web/body.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { fieldsOf, textsBut } from '../web/form-fields.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { awaitOrAccept, moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { askedFor } from './compose/values.ts'
import { componentsOf, grantsOf } from './definition.ts'
import type { Definition } from './definition.ts'
import { drawnAgain } from './file-fields.tsx'
import { editOf } from './edit.ts'
import { DifferenceModal, DifferencePage, EditForm, EditPage } from './edit-page.tsx'
import { serviceUpdateForm } from './forms.ts'
import { serviceJson, templateJson } from './json.ts'
import type { MakeDeps } from './make.ts'
import { outlineOf } from './outline.ts'
import { placeable } from './placement.ts'
import { checkOwner, liveService, ownService, servicePath, servicePattern } from './own-service.ts'
import { cancelServiceJobs, insertServiceJob } from './service-jobs.ts'
import { shownService } from './shown.ts'
import { isBusy } from './state.ts'
import { getService, updateService } from './store.ts'
import type { Service } from './store.ts'
import { definitionOf, isStored, sealDefinition } from './stored-definition.ts'

export type BackupFirst = {
  isOffered: (service: Service) => boolean
  /** Stores it, and returns its id. Throws when it isn't known to where. */
  insert: (service: Service, by: string) => string
}

export const changeRoutes = (deps: MakeDeps & Serving, backupFirst: BackupFirst) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(`${servicePattern}/edit`, async (c) => show(c, await form(c, emptyDraft)))
    .put(servicePattern, checkOwner(deps), input(serviceUpdateForm, form), async (c) => {
      const { preview, backupFirst: wanted, ...asked } = c.var.input
      const service = liveService(deps, c)
      const isForm = !isJson(c)
      const edit = await editOf(deps, { service, user: userOf(c), input: asked, isForm })
      const { before, after, changes, remakes, volumes } = edit
      const offersBackup =
        changes.some(({ field }) => field === 'version') && backupFirst.isOffered(service)
      const sent = textsBut((await fieldsOf(c)) ?? new Map(), aboutTheForm)
      if (preview)
        return show(c, {
          title: `Change ${service.name}`,
          page: () => <DifferencePage {...{ service, edit, sent, offersBackup }} />,
          partial: () => <DifferenceModal {...{ service, edit, offersBackup }} />,
          json: () => ({ changes, remakes, volumes }),
        })
      if (changes.length === 0) return answer(c, service, 'Nothing changed.')
      if (remakes) {
        refuseBusy(service)
        await refuseNoRoom(after)
      }
      const job = db.transaction(() => {
        if (!isStored(deps, before, liveService(deps, c))) throw changedMeanwhile(service)
        updateService(db, service.id, { name: after.name })
        setHosts(db, { serviceId: service.id }, { hosts: after.domains, config: deps.config })
        audit(c, 'service.changed', {
          object: objectOf(service),
          details: { changes: changes.map(({ field }) => field).join(', ') },
        })
        if (!remakes) return null
        const isBackedUp = wanted ?? offersBackup
        return insertServiceJob(deps, service, 'change', {
          input: sealDefinition(deps, after),
          after: isBackedUp ? backupFirst.insert(service, userOf(c).email) : null,
        })
      })
      if (changes.some(({ field }) => field === 'domains')) await served(deps)
      if (!job) return answer(c, service, 'Service saved.')
      deps.jobs.wake()
      const said = job.after
        ? 'Service saved. It restarts once it is backed up.'
        : 'Service saved. It restarts now.'
      return answer(c, service, said, deps.jobs.ended(job.id))
    })
    .post(`${servicePattern}/restart`, async (c) => {
      await refuseNoRoom(await definitionOf(deps, liveService(deps, c)))
      return act(c, 'service.restarted', 'restart')
    })
    .post(`${servicePattern}/stop`, (c) => {
      const { name, status } = liveService(deps, c)
      if (status === 'stopped' || status === 'failed')
        throw new AppError('conflict', `${name} isn’t running: it is ${status}.`)
      return act(c, 'service.stopped', 'stop')
    })
    .post(`${servicePattern}/cancel`, (c) => {
      const service = liveService(deps, c)
      const work = cancelServiceJobs(deps, { service, by: userOf(c).email })
      audit(c, 'service.cancelled', { object: objectOf(service) })
      return answer(c, service, 'Cancelled.', work)
    })

  function act(c: Context, action: Action, kind: 'restart' | 'stop') {
    const service = liveService(deps, c)
    const { id } = db.transaction(() => {
      audit(c, action, { object: objectOf(service) })
      return insertServiceJob(deps, service, kind)
    })
    deps.jobs.wake()
    const said = `${kind === 'stop' ? 'Stop' : 'Restart'} of ${service.name} queued.`
    return answer(c, service, said, deps.jobs.ended(id))
  }

  /** For API clients, waits a while for the end of the job; people see it on the page. */
  async function answer(
    c: Context,
    service: Service,
    said: string,
    work: Promise<void> = Promise.resolve(),
  ) {
    const to = servicePath(service)
    if (clientOf(c) !== 'program') return moveOn(c, { to, said, json: () => ({}) })
    await awaitOrAccept(c, work, { acceptTimeout: deps.config.acceptTimeout, at: to })
    const shown = await shownService(deps, getService(db, service.id) ?? service)
    return moveOn(c, { to, json: () => serviceJson(shown) })
  }

  function refuseBusy({ id, name, status }: Service) {
    if (hasJob(db, id) || isBusy(status))
      throw new AppError(
        'conflict',
        `${name} is currently ${status}. Wait until that has ended, or cancel it.`,
      )
  }

  function refuseNoRoom(definition: Definition) {
    const wanted = componentsOf(deps, definition).length
    return refuseFullNetwork(deps, { workload: { id: definition.id }, wanted })
  }

  async function form(c: Context, typed: Draft) {
    const stored = await definitionOf(deps, ownService(deps, c))
    // without lapsed permissions, which must be granted again
    const definition = { ...stored, allowed: grantsOf(deps, stored) }
    const { name, template, file, values } = definition
    const draft = await drawnAgain(c, typed, file)
    const hasVolumes = outlineOf(file, values).volumes.length > 0
    const isPinned = hasVolumes && deps.serverList.pinnedTo(definition.id) !== null
    const servers = isPinned ? [] : placeable(deps)
    const props = { definition, servers, draft, user: userOf(c) }
    return {
      title: `Change ${name}`,
      page: () => <EditPage {...props} />,
      partial: () => <EditForm {...props} />,
      json: () => ({ ...templateJson(template, file, values), values: shownValues(definition) }),
    }
  }
}

/** Fields about the form itself, which are sent again with it. */
const aboutTheForm = ['csrf_token', '_method', 'preview', 'backup_first']

const objectOf = ({ id, name }: Service) => ({ kind: 'service', id, name }) as const

const changedMeanwhile = ({ name }: Service) =>
  new AppError('conflict', `${name} was changed meanwhile. Check it, then change it again.`)

const shownValues = ({ values, file }: Definition) =>
  Object.fromEntries(
    askedFor(file.variables).map(({ name, secret }) => [
      name,
      secret ? null : (values.get(name) ?? null),
    ]),
  )
