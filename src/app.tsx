import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { oauthRoutes } from './accounts/oauth-routes.tsx'
import { readLoginAgain, requireUser } from './accounts/session.ts'
import { deviceAnswerRoutes, deviceLoginRoutes } from './accounts/device-login-routes.tsx'
import { invite } from './accounts/invite.tsx'
import { forgottenRoutes } from './accounts/forgotten-routes.tsx'
import { accountRoutes, sessionRoutes } from './accounts/routes.tsx'
import { countTry } from './accounts/throttle.ts'
import { profileRoutes } from './accounts/profile-routes.tsx'
import { apiToken } from './accounts/api-token.tsx'
import { activityRoutes } from './admin/activity-routes.tsx'
import { edgeRoutes } from './admin/edge-routes.tsx'
import { grantRoutes } from './admin/grants-routes.tsx'
import { userRoutes } from './admin/user-routes.tsx'
import { apiRoutes } from './api/routes.tsx'
import { auditRoutes } from './audit/routes.tsx'
import { backupFirst } from './backups/backup-first.ts'
import { backupsRoutes } from './backups/routes.tsx'
import { containerLogRoutes } from './containers/log-routes.tsx'
import { pruneRoutes } from './containers/clean-up/routes.tsx'
import { terminalRoutes } from './containers/terminal/routes.tsx'
import { containerRoutes } from './containers/routes.tsx'
import { statsRoutes } from './containers/usage/routes.tsx'
import type { Deps } from './assemble.ts'
import { target } from './backups/targets/target.tsx'
import { docsRoutes } from './docs/routes.tsx'
import { createFront } from './front.ts'
import { newProjectRoutes } from './deployments/new-project-routes.tsx'
import { previewDrain as previewDrainOf } from './apps/relocation.ts'
import { giveUpServer } from './deployments/observe.ts'
import { deploymentListRoutes } from './deployments/list-routes.tsx'
import { uploadRoutes } from './deployments/upload-routes.ts'
import { hookRoutes } from './deployments/hook-routes.ts'
import { freeze } from './deployments/freezes.tsx'
import { plannedRoutes } from './deployments/planned-routes.tsx'
import { promoteRoutes } from './deployments/promote-routes.tsx'
import { shareRoutes } from './deployments/share-routes.tsx'
import { refRoutes } from './deployments/ref-routes.tsx'
import { newImageRoutes } from './deployments/new-images/routes.tsx'
import { deploymentRoutes } from './deployments/routes.tsx'
import { actRoutes } from './apps/act-routes.tsx'
import { environmentRoutes } from './apps/routes.tsx'
import { variableRoutes } from './environments/variable-routes.tsx'
import { givenVariables } from './links/given.ts'
import { domainRoutes } from './domains/routes.tsx'
import { linkRoutes } from './links/routes.tsx'
import { eventRoutes } from './notifications/events-routes.tsx'
import { channel } from './notifications/channel.tsx'
import { AppError } from './platform/errors.ts'
import { gitLookupRoutes } from './git/lookup-routes.tsx'
import { gitSource } from './git/git-source.tsx'
import { listHeldContainers, useOf } from './home/store.ts'
import { dashboardRoutes, landingRoutes } from './home/routes.tsx'
import { findStack } from './deployments/stack/find.ts'
import { previewRoutes } from './previews/routes.tsx'
import { projectRoutes } from './projects/routes.tsx'
import { resourceRoutes } from './resources/routes.tsx'
import { runRoutes } from './runs/routes.tsx'
import { schedule } from './schedules/schedule.tsx'
import { drain } from './drains/drain.tsx'
import { projectMap, mapRoutes } from './map/routes.tsx'
import { moveRoutes } from './moves/routes.tsx'
import { metricRoutes } from './metrics/routes.ts'
import { paletteRoutes } from './palette/routes.tsx'
import { registry } from './registries/registry.tsx'
import { codeRoutes } from './servers/code-routes.tsx'
import { serverJoinRoutes } from './servers/join-routes.ts'
import { server } from './servers/server.tsx'
import { serviceRoutes } from './services/routes.tsx'
import { askFirst } from './web/ask-first.tsx'
import { csrfCheck } from './web/csrf.ts'
import { factory } from './web/factory.ts'
import { readFormMethod } from './web/form-method.ts'
import { liveRoutes } from './web/live-stream.ts'
import { staticRoutes } from './web/static.ts'
import { themeRoutes } from './web/theme-routes.ts'
import { inboxRoutes } from './webhooks/inbox-routes.tsx'
import { trafficRoutes } from './traffic/routes.tsx'
import { webhookRoutes } from './webhooks/routes.ts'

/** KiB of a request's body: for users, and for anonymous visitors, whose largest form is a login. */
const maxBody = { user: 1024, stranger: 16 }

/** The application: middleware for every request, then one line for each slice. */
export function createApp(deps: Deps) {
  const { config } = deps
  const app = createFront(deps, { signed: webhookRoutes(deps), assets: staticRoutes() })

  const checks = [
    limitBody(),
    csrfCheck(deps),
    askFirst(config),
    readFormMethod,
    readLoginAgain(deps),
  ]
  for (const open of ['/auth/*', '/theme']) app.use(open, ...checks)
  for (const people of ['/auth/*', '/settings/*']) app.use(people, streamCheck(deps))
  app.route('/', landingRoutes(deps))
  app.route('/', docsRoutes())
  app.route('/', themeRoutes(config))
  app.route('/', accountRoutes(deps))
  app.route('/', forgottenRoutes(deps))
  app.route('/', oauthRoutes(deps))
  app.route('/', deviceLoginRoutes(deps))
  const tryCode = (address: string) => countTry(deps.db, { email: 'server code', address })
  app.route('/', serverJoinRoutes({ ...deps, countTry: tryCode }))

  app.use(requireUser(deps)) // before the checks, so that a form of an expired session redirects to the login
  app.route('/', uploadRoutes(deps)) // before the checks, which would read its body
  app.use(...checks, requireUser(deps)) // of a login that has ended while the body came
  app.route('/', liveRoutes(deps))
  app.route('/', dashboardRoutes(deps))
  app.route('/', mapRoutes(deps))
  app.route('/', paletteRoutes(deps))
  app.route('/', metricRoutes(deps))
  app.route('/', apiRoutes(deps, app))
  app.route('/', newProjectRoutes(deps))
  app.route('/', projectRoutes(deps, findStack))
  app.route('/', deploymentRoutes(deps, projectMap(deps)))
  app.route('/', deploymentListRoutes(deps))
  app.route('/', refRoutes(deps))
  app.route('/', promoteRoutes(deps))
  app.route('/', previewRoutes(deps))
  app.route('/', plannedRoutes(deps))
  app.route('/', shareRoutes(deps))
  app.route('/', hookRoutes(deps))
  app.route('/', newImageRoutes(deps))
  app.route('/', serviceRoutes(deps, backupFirst(deps)))
  app.route('/', containerRoutes(deps))
  app.route('/', containerLogRoutes(deps))
  app.route('/', terminalRoutes(deps))
  app.route('/', statsRoutes(deps))
  app.route('/', inboxRoutes(deps))
  app.route('/', environmentRoutes(deps))
  app.route('/', actRoutes(deps))
  app.route('/', runRoutes(deps))
  app.route('/', resourceRoutes(deps, schedule))
  app.route('/', resourceRoutes(deps, freeze))
  app.route('/', resourceRoutes(deps, drain))
  app.route('/', backupsRoutes(deps))
  app.route('/', moveRoutes(deps))
  app.route('/', variableRoutes(deps, givenVariables(deps)))
  app.route('/', linkRoutes(deps))
  app.route('/', domainRoutes(deps))
  app.route('/', trafficRoutes(deps))
  app.route('/', profileRoutes(deps))
  app.route('/', sessionRoutes(deps))
  app.route('/', resourceRoutes(deps, invite))
  app.route('/', resourceRoutes(deps, gitSource))
  app.route('/', resourceRoutes(deps, registry))
  app.route('/', codeRoutes(deps))
  const previewDrain = (server: { id: string }) => previewDrainOf(deps, server)
  const giveUp = (serverId: string) => giveUpServer(deps, serverId)
  const use = (serverId: string) => useOf(deps, listHeldContainers(deps.db, serverId))
  app.route('/', resourceRoutes({ ...deps, giveUp, previewDrain, useOf: use }, server))
  app.route('/', resourceRoutes(deps, target))
  app.route('/', resourceRoutes(deps, channel))
  app.route('/', eventRoutes(deps))
  app.route('/', gitLookupRoutes(deps))
  app.route('/', resourceRoutes(deps, apiToken))
  app.route('/', deviceAnswerRoutes(deps))
  app.route('/', userRoutes(deps))
  app.route('/', activityRoutes(deps))
  app.route('/', grantRoutes(deps))
  app.route('/', edgeRoutes(deps))
  app.route('/', auditRoutes(deps))
  app.route('/', pruneRoutes(deps))
  return app
}

/** After changes of logins, roles and tokens, streams that are no longer allowed end before the response. */
const streamCheck = ({ streams }: Pick<Deps, 'streams'>) =>
  factory.createMiddleware(async (_, next) => {
    await next()
    streams.recheck()
  })

const limitBody = () => {
  const [forUsers, forStrangers] = [maxBody.user, maxBody.stranger].map((kib) =>
    bodyLimit({ maxSize: kib * 1024, onError: () => refuseBody(kib) }),
  ) as [MiddlewareHandler, MiddlewareHandler]
  return factory.createMiddleware((c, next) => (c.var.user ? forUsers : forStrangers)(c, next))
}

function refuseBody(kib: number): never {
  const most = kib === 1024 ? '1 MiB' : `${kib} KiB`
  throw new AppError('too_large', `The body is larger than ${most}. Send less at once.`)
}
