import type { Context } from 'hono'
import { matchedRoutes } from 'hono/route'
import { AppError } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import type { ApiToken, Env } from '../web/factory.ts'

type Scope = ApiToken['scopes'][number]

/** The changes that `deploy` allows. All others, including new ones, need `write`. */
export const deployRoutes = [
  'POST /projects/:id/deployments',
  'POST /projects/:id/deploy',
  'POST /projects/:id/envs/:envId/planned',
  'DELETE /projects/:id/envs/:envId/planned',
  'POST /projects/:id/deployments/:deploymentId/rollback',
  'POST /projects/:id/deployments/:deploymentId/cancel',
  'POST /projects/:id/deployments/:deploymentId/keep',
  'POST /projects/:id/deployments/:deploymentId/promote',
  'POST /projects/:id/deliveries/:deliveryId/replay',
  'POST /projects/:id/image/check',
]

/** Deploys from a pipeline, only with a token that is limited to a project. */
export const deployHook = 'POST /hooks/deploy'

/** What a token for monitoring reads; with a project, only of that. */
const metricsRoute = 'GET /metrics'

/** All that a token which is limited to a project may use, there. It finds nothing else. */
const projectRoutes = [
  ...deployRoutes,
  deployHook,
  'GET /projects/:id',
  'GET /projects/:id/envs',
  'GET /projects/:id/image',
  'GET /projects/:id/envs/:envId',
  'GET /projects/:id/envs/:envId/planned',
  'GET /projects/:id/envs/:envId/share',
  'GET /projects/:id/deployments',
  'GET /projects/:id/deployments/:deploymentId',
  'GET /projects/:id/deployments/:deploymentId/status',
  'GET /projects/:id/deployments/:deploymentId/logs',
  'GET /projects/:id/deployments/:deploymentId/compare',
  'GET /projects/:id/deployments/:deploymentId/trace',
  'GET /projects/:id/deployments/:deploymentId/rollback',
]

/** GET routes that do more than read, or show secrets, including those in a user's Compose file. */
const writeRoutes = [
  'GET /backups/:id/download',
  'GET /containers/:id/terminal',
  'GET /envs/:envId/runs/:id/attach',
  'GET /services/:id/edit',
  'GET /services/:id/secrets',
]

/** Changes that only a logged-in person may make: logins, passwords, tokens, users. */
const isPersonal = (path: string) =>
  path.startsWith('/settings/') &&
  !/^\/settings\/(git|registries|targets|channels|events|prune|activity)(\/|$)/.test(path)

/** Each scope includes the ones before it. */
const ranks: Record<Scope, number> = { metrics: 1, read: 2, deploy: 3, write: 4 }

/** Restricts an API token to its scopes. Requests without a token pass. */
export const checkScope = factory.createMiddleware(async function checkTokenScope(c, next) {
  const { token } = c.var
  const route = token && routeOf(c)
  if (token && route) {
    refuseUngiven(token, route)
    refuseElsewhere(token, route, c.req.path)
  }
  await next()
})

type Route = { method: string; path: string }

/** The method and path, without the patterns of parameters. */
export const routeName = ({ method, path }: Route) =>
  `${method} ${path.replace(/(:\w+)\{[^/]*\}/g, '$1')}`

/** True for those who may see texts with possible secrets, such as commands: everyone who may change them. */
export const seesTexts = (c: Context<Env>) => mayWrite(c)

/** True for a person, and for a token with that scope. */
export const mayWrite = ({ var: { token } }: Context<Env>) =>
  !token || token.scopes.some((scope) => ranks[scope] >= ranks.write)

export function neededScope({ method, path }: Route): Scope | null {
  const isRead = method === 'GET'
  if (path.startsWith('/auth/') || (!isRead && isPersonal(path))) return null
  const route = routeName({ method, path })
  if (route === metricsRoute) return 'metrics'
  if (route === deployHook || deployRoutes.includes(route)) return 'deploy'
  return isRead && !writeRoutes.includes(route) ? 'read' : 'write'
}

export function refuseUngiven({ scopes }: Pick<ApiToken, 'scopes'>, route: Route) {
  const needed = neededScope(route)
  if (!needed) throw new AppError('forbidden', 'API tokens can’t do this. Log in in a browser.')
  if (scopes.some((scope) => ranks[scope] >= ranks[needed])) return
  throw new AppError(
    'forbidden',
    `This API token lacks the scope ${needed}. Create one with this scope under Settings, Tokens.`,
  )
}

/** The same for what exists and what doesn't. The project of the hook is that of its environment. */
function refuseElsewhere({ projectId }: ApiToken, route: Route, path: string) {
  if (projectId === null) return
  const name = routeName(route)
  const isThere = name === deployHook || path.split('/')[2] === projectId
  if (name === metricsRoute || (isThere && projectRoutes.includes(name))) return
  throw new AppError(
    'forbidden',
    'This API token is limited to a project: it can read that project, its environments and deployments, and deploy. Create another one under Settings, Tokens.',
  )
}

/** The route that will respond, with HEAD as GET; undefined when there is none. */
function routeOf(c: Context) {
  const wanted = c.req.method === 'HEAD' ? 'GET' : c.req.method
  return matchedRoutes(c).findLast(({ method }) => method === wanted)
}
