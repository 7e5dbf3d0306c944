import type { RouterRoute } from 'hono/types'
import { deployHook, neededScope, routeName } from '../accounts/token-scope.ts'
import { checksOf, originalOf } from '../web/checks.ts'
import type { Checks } from '../web/checks.ts'
import { requireAdmin } from '../web/user-of.ts'
import { listOperations } from './operations.ts'

export type Call = ReturnType<typeof callsOf>[number]

/** Operations with the checks that their routes' handlers declare, in the order of the document. */
export function callsOf(routes: RouterRoute[]) {
  const byRoute = Map.groupBy(routes, routeName)
  return listOperations().map(({ tag, route, operation }) => {
    const [method, path] = route.split(' ') as [string, string]
    const handlers = (byRoute.get(route) ?? []).map(({ handler }) => handler)
    const isForAdmins = handlers.some((handler) => originalOf(handler) === requireAdmin)
    const { body, query }: Checks = Object.assign({}, ...handlers.map(checksOf))
    return { body: body ?? operation.body, query, tag, method, path, operation, isForAdmins }
  })
}

/** The permission for a call, as a security requirement and as a sentence. */
export function accessOf({ method, path, isForAdmins }: Call) {
  if (path.startsWith('/health') || path.startsWith('/docs'))
    return { security: [], said: 'Open to everyone.' }
  if (path.startsWith('/auth/')) return { security: [{ csrf: [] }], said: 'Open to everyone.' }
  const provider = /^\/webhooks\/(\w+)/.exec(path)?.[1]
  if (provider)
    return { security: [{ [provider]: [] }], said: 'Signed with the secret of a project.' }
  if (path.startsWith('/hooks/registry/'))
    return { security: [], said: 'The address has a secret of the project.' }
  if (routeName({ method, path }) === deployHook)
    return {
      security: [{ token: [] }],
      said: 'Needs a token with the scope deploy that is limited to the project.',
    }
  const scope = neededScope({ method, path })
  const session = method === 'GET' ? { session: [] } : { session: [], csrf: [] }
  const who = isForAdmins ? 'For admins: needs' : 'Needs'
  return scope
    ? {
        security: [{ token: [] }, session],
        said: `${who} a token with the scope ${scope}, or a session.`,
      }
    : { security: [session], said: `${who} a session; tokens can’t do this.` }
}
