import { AppError } from '../platform/errors.ts'
import { factory } from './factory.ts'
import { userOf } from './user-of.ts'

export const requireAdmin = factory.createMiddleware(async function checkAdmin(c, next) {
  if (userOf(c).role !== 'admin')
    throw new AppError('forbidden', 'Only an admin may do this. Ask one of them.')
  await next()
})
