import type { Hono, MiddlewareHandler, Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { clientOf } from './client.ts'
import { madeFrom } from './checks.ts'
import type { Env, FormMethod } from './factory.ts'
import { fieldsOf, isForm } from './form-fields.ts'
import { matchedRoutes } from 'hono/route'

/** Handlers that stand beside those of PUT and DELETE, for forms. */
const forForms = new WeakMap<object, FormMethod>()

type Handler = MiddlewareHandler<Env>
type Register = (path: string, ...handlers: Handler[]) => unknown

/**
 * Lets a form without script reach the routes whose methods no form has: it posts, and names the method
 * in its field `_method`. Beside each PUT and DELETE the same handlers stand for such a POST, and a POST
 * of the same address does not mean the form. They are registered as middleware, so that no list of
 * routes has them twice.
 */
export function takeForms(app: Hono<Env>) {
  const routes = app as unknown as Record<'post' | 'put' | 'delete', Register>
  const { post } = routes
  for (const method of ['PUT', 'DELETE'] as const) {
    const name = method === 'PUT' ? 'put' : 'delete'
    const register = routes[name]
    routes[name] = (path, ...handlers) => {
      register(path, ...handlers)
      return app.use(path, ...handlers.map((handler) => meant(method, handler)))
    }
  }
  routes.post = (path, ...handlers) => post(path, ...handlers.map(plain))
}

function meant(method: FormMethod, handler: Handler) {
  const wrapped: Handler = (c, next) => (c.var.formMethod === method ? handler(c, next) : next())
  forForms.set(wrapped, method)
  return wrapped
}

const plain = (handler: Handler) =>
  madeFrom(handler, ((c, next) => (c.var.formMethod ? next() : handler(c, next))) as Handler)

/** Whether this handler answers the POST; as long as the form's method is not read, it may. */
export function answersForm(handler: object, formMethod: FormMethod | null | undefined) {
  const method = forForms.get(handler)
  return method !== undefined && (formMethod === undefined || formMethod === method)
}

/** Reads `_method`: of a person's form only, never of the address or a header, nor where a token is shown. */
export const readFormMethod = createMiddleware<Env>(async function readMethod(c, next) {
  const mayName = c.req.method === 'POST' && clientOf(c) !== 'program' && !c.var.token
  const named = mayName ? (await fieldsOf(c))?.get('_method')?.at(-1) : undefined
  c.set('formMethod', named === 'PUT' || named === 'DELETE' ? named : null)
  await next()
})

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
