import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import { AppError } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import type { ApiToken } from '../web/factory.ts'

type Scope = ApiToken['scopes'][number]

/** The changes that `deploy` allows. Every other one, and so every new one, needs `write`. */
export const deployRoutes = [
  'POST /projects/:id/deployments',
  'POST /projects/:id/deploy',
  'POST /projects/:id/deployments/:deploymentId/rollback',
  'POST /projects/:id/deployments/:deploymentId/cancel',
  'POST /projects/:id/deliveries/:deliveryId/replay',
]

/** What is more than looking, though it is asked for by GET. */
const writeRoutes = ['GET /containers/:id/terminal', 'GET /envs/:envId/runs/:id/attach']

/** Where nobody but the person logged in changes anything: logins, passwords, tokens, users. */
const isPersonal = (path: string) =>
  path.startsWith('/settings/') && !/^\/settings\/(git|registries|prune|activity)(\/|$)/.test(path)

/** Each scope gives what those before it give. */
const ranks: Record<Scope, number> = { read: 1, deploy: 2, write: 3 }

/** Lets an API token do only what its scopes give. Requests without one are no matter of this. */
export const checkScope = factory.createMiddleware(async function checkTokenScope(c, next) {
  const { token } = c.var
  const route = token && routeOf(c)
  if (token && route) refuseUngiven(token, route)
  await next()
})

/** The route by its pattern. */
type Route = { method: string; path: string }

/** The least scope of a token that may do this; null where none may. */
export function neededScope({ method, path }: Route): Scope | null {
  const isRead = method === 'GET'
  if (path.startsWith('/auth/') || (!isRead && isPersonal(path))) return null
  const route = `${method} ${path}`
  if (deployRoutes.includes(route)) return 'deploy'
  return isRead && !writeRoutes.includes(route) ? 'read' : 'write'
}

/** Throws unless the token's scopes give this route. */
export function refuseUngiven({ scopes }: Pick<ApiToken, 'scopes'>, route: Route) {
  const needed = neededScope(route)
  if (!needed)
    throw new AppError('forbidden', 'No API token may do this, whatever its scopes. Log in first.')
  if (scopes.some((scope) => ranks[scope] >= ranks[needed])) return
  throw new AppError(
    'forbidden',
    `This API token lacks the scope ${needed}. Make one that has it under Settings, Tokens.`,
  )
}

/** The route that will answer, with HEAD as the GET that it is; undefined where there is none. */
function routeOf(c: Context) {
  const wanted = c.req.method === 'HEAD' ? 'GET' : c.req.method
  return matchedRoutes(c).findLast(({ method }) => method === wanted)
}
