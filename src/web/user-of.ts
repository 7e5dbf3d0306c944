import type { Context } from 'hono'
import { AppError } from '../platform/errors.ts'
import type { Env, User } from './factory.ts'
import { factory } from './factory.ts'

/** The logged-in user. Throws in a route without a login check, so that it isn't served. */
export function userOf(c: Context): User {
  const { user } = (c as Context<Env>).var
  if (!user) throw notLoggedIn()
  return user
}

export const notLoggedIn = () => new AppError('unauthorized', 'Log in first.')

export const onlyForAdmins = () =>
  new AppError('forbidden', 'Only an admin can do this. Ask one of them.')

/** Runs before `input`, so that what belongs to someone else is missing, whatever was sent. */
export const ownFirst = (find: (c: Context<Env>) => unknown) =>
  factory.createMiddleware(async function checkOwner(c, next) {
    find(c)
    await next()
  })

/** In place of a check. */
export const pass = factory.createMiddleware((_, next) => next())

export const requireAdmin = factory.createMiddleware(async function checkAdmin(c, next) {
  if (userOf(c).role !== 'admin') throw onlyForAdmins()
  await next()
})
