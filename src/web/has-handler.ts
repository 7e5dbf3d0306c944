import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'

/**
 * Whether a route, not only middleware, will answer: 404 and 405 come before any other refusal.
 * Routes are registered by method; one made with `all()` would look like middleware here.
 */
export function hasHandler(c: Context) {
  const wanted = c.req.method === 'HEAD' ? 'GET' : c.req.method
  return matchedRoutes(c).some(({ method }) => method === wanted)
}
