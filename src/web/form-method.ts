import type { Context, Hono, MiddlewareHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import { clientOf } from './client.ts'
import { madeFrom } from './checks.ts'
import type { AppError } from '../platform/errors.ts'
import { fieldsOf, isForm } from './form-fields.ts'
import { matchedRoutes } from 'hono/route'

/** The methods that HTML forms don't have. */
export type FormMethod = 'PUT' | 'DELETE'

export type FormVariables = {
  /** The refusal of a form that was open too long: it is rendered again, and changes nothing. */
  refusal?: AppError
  /** The method by which a form without script overrides POST, or null. Unset until the body is read. */
  formMethod?: FormMethod | null
}

/** Handlers for forms beside those of PUT and DELETE. */
const forForms = new WeakMap<object, FormMethod>()

type Register = (path: string, ...handlers: MiddlewareHandler[]) => unknown

/**
 * Lets a form without script reach routes with methods that forms don't have: it posts, and names the method
 * in its field `_method`. Beside each PUT and DELETE the same handlers accept such a POST, and don't conflict
 * with a POST of the same address. They are registered as middleware, so that they appear only once in lists
 * of routes.
 */
export function takeForms(app: Hono<any>) {
  const routes = app as unknown as Record<'post' | 'put' | 'delete', Register>
  const { post } = routes
  for (const method of ['PUT', 'DELETE'] as const) {
    const name = method === 'PUT' ? 'put' : 'delete'
    const register = routes[name]
    routes[name] = (path, ...handlers) => {
      register(path, ...handlers)
      return app.use(path, ...guarded(handlers).map((handler) => meant(method, handler)))
    }
  }
  routes.post = (path, ...handlers) => post(path, ...guarded(handlers).map(plain))
}

/** Handlers that throw the refusal of a form that was open too long. */
const guards = new WeakSet<object>()

/** The last handler makes the change, so a refused form doesn't reach it. */
const guarded = (handlers: MiddlewareHandler[]) => [
  ...handlers.slice(0, -1),
  ...handlers.slice(-1).map((handler) => {
    const guard: MiddlewareHandler = (c, next) => {
      if (c.var.refusal) throw c.var.refusal
      return handler(c, next)
    }
    guards.add(guard)
    return madeFrom(handler, guard)
  }),
]

/** True when no handler of this request would change anything once it has a `refusal`. */
export const isGuarded = (c: Context) => matchedRoutes(c).some(({ handler }) => guards.has(handler))

function meant(method: FormMethod, handler: MiddlewareHandler) {
  const wrapped: MiddlewareHandler = (c, next) =>
    c.var.formMethod === method ? handler(c, next) : next()
  forForms.set(wrapped, method)
  if (guards.has(handler)) guards.add(wrapped)
  return wrapped
}

function plain(handler: MiddlewareHandler) {
  const wrapped: MiddlewareHandler = (c, next) => (c.var.formMethod ? next() : handler(c, next))
  if (guards.has(handler)) guards.add(wrapped)
  return madeFrom(handler, wrapped)
}

/** True when this handler handles the POST; before the form's method is read, true if it may. */
function answersForm(handler: object, formMethod: FormMethod | null | undefined) {
  const method = forForms.get(handler)
  return method !== undefined && (formMethod === undefined || formMethod === method)
}

/** Reads `_method`: only from a browser's form, never from the address or a header, nor with a token. */
export const readFormMethod = createMiddleware(async function readMethod(c, next) {
  const mayName = c.req.method === 'POST' && clientOf(c) !== 'program' && !c.var.token
  const named = mayName ? (await fieldsOf(c))?.get('_method')?.at(-1) : undefined
  c.set('formMethod', named === 'PUT' || named === 'DELETE' ? named : null)
  await next()
})

/**
 * True when a route, not only middleware, will respond: 404 and 405 come before any other refusal. Routes are
 * registered by method; one with `all()` would look like middleware here.
 */
export function hasHandler(c: Context) {
  const wanted = c.req.method === 'HEAD' ? 'GET' : c.req.method
  const { formMethod, token } = c.var
  return matchedRoutes(c).some(
    ({ method, handler }) =>
      method === wanted ||
      (wanted === 'POST' && isForm(c) && !token && answersForm(handler, formMethod)),
  )
}
