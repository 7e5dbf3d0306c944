import type { Context } from 'hono'
import { holderOf } from '../addresses/store.ts'
import type { Domain } from '../addresses/store.ts'
import { served } from '../addresses/urls.ts'
import type { Serving } from '../addresses/urls.ts'
import { auditor } from '../audit/record.ts'
import type { Action } from '../audit/actions.ts'
import type { Engines } from '../docker/index.ts'
import type { Routing } from '../runtime/routing.ts'
import { headOf, lookOf } from '../environments/head.ts'
import { findOwnEnvironment, findOwnLiveEnvironment } from '../environments/store.ts'
import { invalidField, refuseDeleting } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { usualTarget } from '../runtime/routing-store.ts'
import { servicePattern } from '../services/own-service.ts'
import { findService } from '../services/store.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { pageOf, paged } from '../web/paging.ts'
import { moveOn, show } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { ownFirst, userOf } from '../web/user-of.ts'
import { endsWithin } from '../platform/pause.ts'
import type { CertificateKeeper } from './certificate-keeper.ts'
import { DomainForm } from './domain-form.tsx'
import { DomainList, DomainsPage } from './domains-page.tsx'
import { domainForm, domainUpdateForm } from './forms.ts'
import type { AskedDomain } from './forms.ts'
import { domainsJson } from './json.ts'
import type { ShownDeps } from './json.ts'
import { holderIn, listPath, nameOf } from './owner.ts'
import type { DomainOwner } from './owner.ts'
import { addressesOf } from './page-view.ts'
import { addDomain, changeDomain, hashAccounts } from './save.ts'
import type { Prepared } from './save.ts'
import { deleteDomain, findOwnDomain, pageOfDomains } from './store.ts'
import { shownAgain, withoutKept, withUploads } from './submitted.ts'
import { checkTarget } from './target.ts'

export type DomainDeps = Serving &
  ShownDeps & {
    engines: Pick<Engines, 'isAway'>
    secrets: Secrets
    routing: Pick<Routing, 'route'>
    certificates: Pick<CertificateKeeper, 'expected' | 'look' | 'check'>
  }

export const domainRoutes = (deps: DomainDeps) => {
  const { db } = deps
  const audit = auditor(db)
  const isExternal = deps.config.edge === 'external'
  const app = factory.createApp()
  for (const [path, find] of [
    ['/envs/:envId/domains', environmentOf],
    [`${servicePattern}/domains`, serviceOf],
  ] as const) {
    const newDomain = (c: Context, draft: Draft): View => {
      const of = find(c)
      return {
        title: 'Add domain',
        page: () => (
          <DomainForm {...{ of, domain: null, expected: expected(), isExternal, draft }} />
        ),
      }
    }
    app
      .get(path, paged(), async (c) => {
        const of = find(c)
        const page = c.req.valid('query')
        const listed = pageOfDomains(db, holderIn(of), page)
        const view = addressesOf(deps, of)
        const head = of.kind === 'environment' ? headOf(deps, of) : null
        return show(c, {
          title: `Domains of ${nameOf(of)}`,
          ...(head && { state: lookOf(head) }),
          page: () => <DomainsPage {...view} head={head} />,
          partial: () => <DomainList {...view} />,
          live: {},
          json() {
            const list = pageOf(listed, page)
            const items = list.items.map(({ id }) => view.domains.find((one) => one.id === id)!)
            return { ...list, items }
          },
        })
      })
      .get(`${path}/new`, (c) => show(c, newDomain(c, emptyDraft)))
      .post(
        path,
        ownFirst(find),
        input(domainForm, async (c, draft) => newDomain(c, await shownAgain(c, draft))),
        async (c) => {
          const of = find(c, { forChange: true })
          const { host } = c.var.input
          const prepared = await prepare(c, { of, asked: c.var.input, current: null })
          const domain = db.transaction(() => {
            const domain = addDomain(deps, holderIn(find(c, { forChange: true })), {
              host,
              ...prepared,
            })
            record(c, 'domain.added', { of, domain })
            return domain
          })
          await inForce(of, domain)
          return answer(c, { of, domain, created: true, said: `${domain.host} added.` })
        },
      )
  }

  return app
    .get('/domains/:id', async (c) => show(c, await oneDomain(c, emptyDraft)))
    .put(
      '/domains/:id',
      ownFirst(own),
      input(domainUpdateForm, async (c, draft) => oneDomain(c, await shownAgain(c, draft))),
      async (c) => {
        const { of, domain: current } = own(c, { forChange: true })
        const prepared = await prepare(c, { of, asked: c.var.input, current })
        const domain = db.transaction(() => {
          const changed = changeDomain(deps, own(c, { forChange: true }).domain, prepared)
          record(c, 'domain.changed', { of, domain: changed })
          return changed
        })
        await inForce(of, domain)
        return answer(c, { of, domain, said: `${domain.host} saved.` })
      },
    )
    .delete('/domains/:id', async (c) => {
      const { of, domain } = own(c, { forChange: true })
      db.transaction(() => {
        deleteDomain(db, domain.id)
        record(c, 'domain.deleted', { of, domain })
      })
      await served(deps)
      return moveOn(c, { to: listPath(of), said: `${domain.host} removed.`, json: () => ({}) })
    })
    .post('/domains/:id/check', async (c) => {
      const { of, domain } = own(c)
      const { signal } = c.req.raw
      await endsWithin(deps.config.acceptTimeout, deps.certificates.check(domain.host, { signal }))
      record(c, 'domain.checked', { of, domain })
      return answer(c, { of, domain, said: `${domain.host} checked.` })
    })

  function environmentOf(c: Context, options: Options = {}) {
    return environmentWith(c, c.req.param('envId')!, options)
  }

  function serviceOf(c: Context, options: Options = {}) {
    return serviceWith(c, c.req.param('id')!, options)
  }

  function environmentWith(c: Context, id: string, { forChange }: Options): DomainOwner {
    const key = { id, ownerId: userOf(c).id }
    const own = forChange ? findOwnLiveEnvironment(db, key) : findOwnEnvironment(db, key)
    return { kind: 'environment', ...own }
  }

  function serviceWith(c: Context, id: string, { forChange }: Options): DomainOwner {
    const service = findService(db, { id, ownerId: userOf(c).id })
    if (forChange) refuseDeleting('Service', service)
    return { kind: 'service', service }
  }

  function own(c: Context, options: Options = {}): { of: DomainOwner; domain: Domain } {
    const domain = findOwnDomain(db, { id: c.req.param('id')!, ownerId: userOf(c).id })
    const holder = holderOf(domain)
    const of =
      'environmentId' in holder
        ? environmentWith(c, holder.environmentId, options)
        : serviceWith(c, holder.serviceId, options)
    return { domain, of }
  }

  function expected() {
    return [...deps.certificates.expected]
  }

  function jsonOf(domains: Domain[]) {
    return domainsJson(deps, domains, { expected: expected() })
  }

  async function oneDomain(c: Context, draft: Draft): Promise<View> {
    const { of, domain } = own(c)
    const [shown] = jsonOf([domain])
    return {
      title: domain.host,
      page: () => (
        <DomainForm {...{ of, domain: shown!, expected: expected(), isExternal, draft }} />
      ),
      json: () => shown,
    }
  }

  /** Does all slow work before the transaction that stores it. */
  async function prepare(
    c: Context,
    { of, asked, current }: { of: DomainOwner; asked: AskedDomain; current: Domain | null },
  ): Promise<Prepared> {
    return {
      asked: withoutKept(c, { asked: await withUploads(c, asked), current }),
      target: await targetFor(of, asked, current),
      accounts:
        asked.basicAuth === undefined ? undefined : await hashAccounts(asked.basicAuth ?? []),
    }
  }

  async function targetFor(of: DomainOwner, asked: AskedDomain, current: Domain | null) {
    const { target } = asked
    if (of.kind === 'environment') {
      if (target) throw invalidField('target', 'is only for services.')
      return undefined
    }
    if (target) return checkTarget(deps, of.service, target)
    const { redirectTo = current?.redirectTo } = asked
    const isNeeded = !redirectTo
    const isDefault = target === null || !current?.component
    if (isNeeded && isDefault && !usualTarget(deps.db, of.service.id))
      throw invalidField(
        'target',
        'must be a component and its port, such as web:8080: this service publishes no port.',
      )
    return target === undefined ? undefined : null
  }

  /** Waits briefly until the change is served and its certificate requested. */
  function inForce(of: DomainOwner, { host }: Domain) {
    if (of.kind === 'service') deps.routing.route({ id: of.service.id, kind: 'service' })
    deps.certificates.look([host])
    return served(deps)
  }

  function answer(
    c: Context,
    {
      of,
      domain,
      said,
      created = false,
    }: { of: DomainOwner; domain: Domain; said: string; created?: boolean },
  ) {
    const [shown] = jsonOf([findOwnDomain(db, { id: domain.id, ownerId: userOf(c).id })])
    const location = `/domains/${domain.id}`
    return moveOn(c, { to: listPath(of), created, location, said, json: () => shown })
  }

  function record(c: Context, action: Action, { of, domain }: { of: DomainOwner; domain: Domain }) {
    const { id, host, path } = domain
    const details: Record<string, string> =
      of.kind === 'environment'
        ? { project: of.project.name, environment: of.environment.name }
        : { service: of.service.name }
    const name = path === '/' ? host : host + path
    audit(c, action, { object: { kind: 'domain', id, name }, details })
  }
}

/** A change needs an owner that isn't being deleted. */
type Options = { forChange?: boolean }
