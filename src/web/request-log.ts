import type { Context } from 'hono'
import { journal } from '../platform/journal.ts'
import { factory } from './factory.ts'

/** One line for each response. The path is logged without its query; headers and bodies never are. */
export const requestLog = () =>
  factory.createMiddleware(async (c, next) => {
    const startedAt = performance.now()
    await next()
    journal.info('request', {
      requestId: c.var.requestId,
      method: c.req.method,
      path: loggedPath(c),
      status: c.res.status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      address: c.var.address,
      ...(c.var.user && { user: c.var.user.id }),
    })
  })

/** Without the one secret that an address has. */
export const loggedPath = (c: Context) =>
  c.req.path.replace(/^\/hooks\/registry\/.+/, '/hooks/registry/…')
