import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import { userOf } from '../web/user-of.ts'
import { findService } from './store.ts'
import type { Service } from './store.ts'

/** Instances and templates share a prefix in URLs: only what looks like an id is one. */
export const servicePattern = '/services/:id{[a-f0-9-]{36}}'

export const servicePath = ({ id }: Pick<Service, 'id'>) => `/services/${id}`

/** Only its owner finds the instance of `/services/:id…`. */
export const ownService = ({ db }: { db: Db }, c: Context) =>
  findService(db, { id: c.req.param('id')!, ownerId: userOf(c).id })

/** One that is not being deleted: it can be changed. */
export function liveService(deps: { db: Db }, c: Context) {
  const service = ownService(deps, c)
  refuseDeletingService(service)
  return service
}

export function refuseDeletingService({ name, deletingAt }: Pick<Service, 'name' | 'deletingAt'>) {
  if (deletingAt)
    throw new AppError('conflict', `${name} is being deleted, so it can’t be changed.`)
}

/** Stands before `input`, so that an instance of someone else is missing whatever was sent to it. */
export const checkOwner = (deps: { db: Db }) =>
  factory.createMiddleware(async function checkServiceOwner(c, next) {
    ownService(deps, c)
    await next()
  })
