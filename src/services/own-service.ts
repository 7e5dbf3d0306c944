import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import { refuseDeleting } from '../platform/errors.ts'
import { ownFirst, userOf } from '../web/user-of.ts'
import { findService } from './store.ts'
import type { Service } from './store.ts'

/** Instances and templates share a prefix in URLs, so only an id matches. */
export const servicePattern = '/services/:id{[a-f0-9-]{36}}'

export const servicePath = ({ id }: Pick<Service, 'id'>) => `/services/${id}`

export const serviceCrumbs = (service: Pick<Service, 'id' | 'name'>) => [
  { href: '/services', name: 'Services' },
  { href: servicePath(service), name: service.name },
]

export const ownService = ({ db }: { db: Db }, c: Context) =>
  findService(db, { id: c.req.param('id')!, ownerId: userOf(c).id })

/** For changes: throws when the instance is being deleted. */
export function liveService(deps: { db: Db }, c: Context) {
  const service = ownService(deps, c)
  refuseDeleting('Service', service)
  return service
}

export const checkOwner = (deps: { db: Db }) => ownFirst((c) => ownService(deps, c))
