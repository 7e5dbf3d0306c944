import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { Env } from './factory.ts'
import { isForm } from './form-fields.ts'
import { answersForm } from './form-method.ts'

/**
 * Whether a route, not only middleware, will answer: 404 and 405 come before any other refusal.
 * Routes are registered by method; one made with `all()` would look like middleware here.
 */
export function hasHandler(c: Context) {
  const wanted = c.req.method === 'HEAD' ? 'GET' : c.req.method
  const { formMethod, token } = (c as Context<Env>).var
  return matchedRoutes(c).some(
    ({ method, handler }) =>
      method === wanted ||
      (wanted === 'POST' && isForm(c) && !token && answersForm(handler, formMethod)),
  )
}
