import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { headOf, lookOf } from '../environments/head.ts'
import {
  checkEnvironment,
  liveEnvironment,
  ownEnvironment,
} from '../environments/own-environment.ts'
import type { OwnEnvironment } from '../environments/own-environment.ts'
import { found, invalidField } from '../platform/errors.ts'
import { Catalogue } from '../services/catalogue.ts'
import { aboutNew, freeName, makeService } from '../services/make.ts'
import type { MakeDeps } from '../services/make.ts'
import { providesOf } from '../services/provides.ts'
import { findService, listNames } from '../services/store.ts'
import type { Service } from '../services/store.ts'
import { definitionOf } from '../services/stored-definition.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import { pageOf, paged } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { addLink, changeLink, removeLink } from './change.ts'
import { choicesFor, offeredBy, offeredByNew } from './choices.ts'
import { linksOf } from './json.ts'
import { placeable } from '../services/placement.ts'
import { ChooseService, EditLink, NewLink } from './link-forms.tsx'
import { LinkList, linksPath, LinksPage } from './links-page.tsx'
import { listLinks } from './store.ts'
import type { Link, Linked } from './store.ts'
import { z } from 'zod'
import { variableName } from '../projects/forms.ts'
import { serviceForm } from '../services/forms.ts'
import { line, pairs } from '../web/fields.ts'

export const linkRoutes = (deps: MakeDeps) => {
  const { db } = deps
  const audit = auditor(db)
  const catalogue = new Catalogue(deps.config)
  const ownFirst = checkEnvironment(deps)

  return factory
    .createApp()
    .get('/envs/:envId/links', paged(), async (c) => {
      const { environment, project } = ownEnvironment(deps, c)
      const page = c.req.valid('query')
      const links = await linksOf(deps, environment.id)
      const head = headOf(deps, { project, environment })
      return show(c, {
        title: `${project.name}: services of ${environment.name}`,
        state: lookOf(head),
        page: () => <LinksPage head={head} links={links} />,
        partial: () => <LinkList links={links} environment={environment} />,
        live: {},
        json() {
          const { cursor } = page
          const newest = links.toReversed()
          return pageOf(cursor ? newest.filter(({ id }) => id < cursor) : newest, page)
        },
      })
    })
    .get('/envs/:envId/links/new', ownFirst, query(newLinkQuery), async (c) =>
      show(c, await newLink(c, emptyDraft, c.req.valid('query'))),
    )
    .post('/envs/:envId/links', ownFirst, input(linkForm, newLinkAgain), async (c) => {
      const of = liveEnvironment(deps, c)
      const { serviceId, template } = c.var.input
      if (Boolean(serviceId) === Boolean(template))
        throw invalidField(
          'serviceId',
          'must be the id of a service. Or send template, the name of a template in the catalogue, to create a service.',
        )
      const link = template
        ? await linkNew(c, { of, template, asked: c.var.input })
        : await linkOld(c, { of, serviceId: serviceId!, variables: chosenIn(c.var.input) })
      return answer(c, link, { created: true })
    })
    .get('/envs/:envId/links/:id', async (c) => show(c, await oneLink(c, emptyDraft)))
    .put('/envs/:envId/links/:id', ownFirst, input(linkUpdateForm, oneLink), async (c) => {
      const of = liveEnvironment(deps, c)
      const environmentId = of.environment.id
      const { service } = ownLink(c, environmentId)
      const provides = providesOf(deps, await definitionOf(deps, service))
      const link = db.transaction(() => {
        const { link } = ownLink(c, environmentId)
        const variables = chosenIn(c.var.input) ?? link.variables
        audit(c, 'link.changed', about({ link, service }, of))
        return changeLink(deps, link, { provides, variables })
      })
      return answer(c, link)
    })
    .delete('/envs/:envId/links/:id', (c) => {
      const of = liveEnvironment(deps, c)
      db.transaction(() => {
        const linked = ownLink(c, of.environment.id)
        audit(c, 'link.deleted', about(linked, of))
        removeLink(deps, linked.link)
      })
      const to = linksPath(of.environment)
      return moveOn(c, { to, said: 'Link removed.', json: () => ({}) })
    })

  function ownLink(c: Context, environmentId: string): Linked {
    const id = c.req.param('id')
    return found(
      'link',
      listLinks(db, environmentId).find(({ link }) => link.id === id),
    )
  }

  async function shown({ id, environmentId }: Link) {
    const links = await linksOf(deps, environmentId)
    return found(
      'link',
      links.find((one) => one.id === id),
    )
  }

  /** Asks for the service first, then for its variables. */
  async function newLink(
    c: Context,
    draft: Draft,
    { serviceId, template }: z.infer<typeof newLinkQuery>,
  ): Promise<View> {
    const { environment } = ownEnvironment(deps, c)
    const user = userOf(c)
    const key = { ownerId: user.id, environmentId: environment.id }
    const title = 'Add database'
    if (serviceId) {
      const service = findService(db, { id: serviceId, ownerId: user.id })
      const offered = await offeredBy(deps, { service, environmentId: environment.id })
      return {
        title,
        page: () => <NewLink {...{ environment, of: { service }, ...offered, draft }} />,
      }
    }
    if (template) {
      const { file } = await catalogue.open(template)
      const { suggestion, ...offered } = offeredByNew(deps, { template, file, ...key })
      const of = { template, file, suggestion, user, servers: placeable(deps) }
      return { title, page: () => <NewLink {...{ environment, of, ...offered, draft }} /> }
    }
    const choices = await choicesFor(deps, { catalogue, ...key })
    return { title, page: () => <ChooseService {...{ environment, ...choices }} /> }
  }

  function newLinkAgain(c: Context, draft: Draft) {
    const { service_id: serviceId, template } = draft.values
    return newLink(c, draft, { serviceId, template })
  }

  async function oneLink(c: Context, draft: Draft): Promise<View> {
    const { environment } = ownEnvironment(deps, c)
    const linked = ownLink(c, environment.id)
    const link = await shown(linked.link)
    const { provided } = await offeredBy(deps, { ...linked, environmentId: environment.id })
    return {
      title: `Link to ${link.service.name}`,
      page: () => <EditLink {...{ link, provided, draft }} />,
      json: () => link,
    }
  }

  async function linkOld(
    c: Context,
    { of, serviceId, variables }: { of: OwnEnvironment; serviceId: string; variables: Chosen },
  ): Promise<Link> {
    const key = { id: serviceId, ownerId: userOf(c).id }
    const provides = providesOf(deps, await definitionOf(deps, findService(db, key)))
    return db.transaction(() => {
      const service = findService(db, key)
      return add(c, { of, service, provides, variables })
    })
  }

  async function linkNew(
    c: Context,
    {
      of,
      template,
      asked,
    }: { of: OwnEnvironment; template: string; asked: (typeof linkForm)['_output'] },
  ): Promise<Link> {
    const opened = await catalogue.open(template)
    const { serviceId: _, template: __, variables: ___, ...fields } = asked
    const owner = userOf(c)
    const name = fields.name ?? freeName(template, listNames(db, owner.id))
    let link: Link | undefined
    makeService(
      deps,
      { owner, template, ...opened, input: { ...fields, name } },
      (service, definition) => {
        audit(c, 'service.created', aboutNew(service))
        const provides = providesOf(deps, definition)
        link = add(c, { of, service, provides, variables: chosenIn(asked) })
      },
    )
    return link!
  }

  function add(
    c: Context,
    {
      of,
      service,
      ...chosen
    }: Omit<Parameters<typeof addLink>[1], 'environmentId'> & {
      of: OwnEnvironment
      service: Service
    },
  ) {
    const link = addLink(deps, { environmentId: of.environment.id, service, ...chosen })
    audit(c, 'link.created', about({ link, service }, of))
    return link
  }

  async function answer(c: Context, link: Link, { created = false } = {}) {
    const to = linksPath({ id: link.environmentId })
    const json = await shown(link)
    const said = created ? 'Service linked.' : 'Link saved.'
    return moveOn(c, { to, created, location: `${to}/${link.id}`, said, json: () => json })
  }
}

type Chosen = ReturnType<typeof chosenIn>

const about = ({ link, service }: Linked, { project, environment }: OwnEnvironment) => ({
  object: { kind: 'link' as const, id: link.id, name: service.name },
  details: { project: project.name, environment: environment.name },
})

/** Keys in the app, with the service's name for each variable. */
const variables = pairs(variableName, { max: 100 })

const serviceId = line('the id of a service', { max: 36 })
const template = line('the name of a template', { max: 100 })

/** Without either, the service must be chosen first. */
const newLinkQuery = z.object({
  serviceId: serviceId.optional(),
  template: template.optional(),
})

const linkForm = z.looseObject({
  ...serviceForm.shape,
  name: serviceForm.shape.name.nullish(),
  serviceId: serviceId.nullish(),
  template: template.nullish(),
  variables: variables.nullish(),
})

/** Null clears the variables; undefined leaves the decision to the caller. */
const chosenIn = ({ variables }: { variables?: Record<string, string> | null | undefined }) =>
  variables === undefined
    ? undefined
    : Object.fromEntries(Object.entries(variables ?? {}).map(([key, name]) => [key, name.trim()]))

const linkUpdateForm = z.object({ variables: variables.nullish() })
