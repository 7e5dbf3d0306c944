import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { timeout } from 'hono/timeout'
import { oauthRoutes } from './accounts/oauth-routes.tsx'
import { requireUser, loadSession } from './accounts/session.ts'
import { accountRoutes, sessionRoutes } from './accounts/routes.tsx'
import { profileRoutes } from './accounts/profile-routes.tsx'
import { tokenRoutes } from './accounts/token-routes.tsx'
import { checkScope } from './accounts/token-scope.ts'
import { activityRoutes } from './admin/activity-routes.tsx'
import { grantRoutes } from './admin/grants-routes.tsx'
import { userRoutes } from './admin/user-routes.tsx'
import { apiRoutes } from './api/routes.tsx'
import { auditRoutes } from './audit/routes.tsx'
import { containerLogRoutes } from './containers/log-routes.tsx'
import { pruneRoutes } from './containers/clean-up/routes.tsx'
import { terminalRoutes } from './containers/terminal/routes.tsx'
import { containerRoutes } from './containers/routes.tsx'
import { statsRoutes } from './containers/usage/routes.tsx'
import type { Config } from './config.ts'
import type { Deps } from './assemble.ts'
import { newProjectRoutes } from './deployments/new-project-routes.tsx'
import { deploymentRoutes } from './deployments/routes.tsx'
import { actRoutes } from './apps/act-routes.tsx'
import { environmentRoutes } from './apps/routes.tsx'
import { variableRoutes } from './environments/variable-routes.tsx'
import { givenVariables } from './links/given.ts'
import { linkRoutes } from './links/routes.tsx'
import { AppError } from './platform/errors.ts'
import { gitLookupRoutes } from './git/lookup-routes.tsx'
import { gitSourceRoutes } from './git/routes.tsx'
import { dashboardRoutes, landingRoutes } from './home/routes.tsx'
import { projectRoutes } from './projects/routes.tsx'
import { runRoutes } from './runs/routes.tsx'
import { registryRoutes } from './registries/routes.tsx'
import { serviceRoutes } from './services/routes.tsx'
import { askFirst } from './web/ask-first.tsx'
import { clientAddress } from './web/client-address.ts'
import { csrfCheck, csrfToken } from './web/csrf.ts'
import { factory } from './web/factory.ts'
import { readFormMethod } from './web/form-method.ts'
import { answerError, answerMethodNotAllowed, answerNotFound } from './web/failures.tsx'
import { healthRoutes } from './web/health.ts'
import { ownHost } from './web/own-host.ts'
import { rateLimit } from './web/rate-limit.ts'
import { refuseContainers } from './web/refuse-containers.ts'
import { requestLog } from './web/request-log.ts'
import { staticRoutes } from './web/static.ts'
import { inboxRoutes } from './webhooks/inbox-routes.tsx'
import { webhookRoutes } from './webhooks/routes.ts'

/** KiB of a request's body: of a user, and of someone who is not logged in, for whom a login is most. */
const maxBody = { user: 1024, stranger: 16 }

/** The HTTP application: middleware in the specified order, then one line for each slice. */
export function createApp(deps: Deps) {
  const { config } = deps
  const app = factory.createApp()
  app.onError(answerError)
  app.notFound(answerNotFound)
  app.use(requestId(), clientAddress(config.trustedProxies), requestLog())
  app.use(
    pageHeaders(config),
    methodNotAllowed({ app, onMethodNotAllowed: answerMethodNotAllowed }),
  )
  app.route('/', webhookRoutes(deps)) // before all that reads cookies, with limits of their own
  app.use(ownHost(config))
  app.use(refuseContainers(deps)) // but a git server may be one, whose deliveries are signed
  app.use(rateLimit({ rate: config.rateLimit, burst: config.rateBurst }))
  app.route('/', staticRoutes()) // needs no session, and gives no cookie to what caches may keep
  app.use(loadSession(deps), privateAnswers(), csrfToken(deps))
  app.use(deadline(config.requestTimeout), checkScope)
  app.route('/', healthRoutes(deps))

  const checks = [limitBody(), csrfCheck(deps), askFirst(config), readFormMethod]
  app.use('/auth/*', ...checks)
  for (const people of ['/auth/*', '/settings/*']) app.use(people, streamCheck(deps))
  app.route('/', landingRoutes(deps))
  app.route('/', accountRoutes(deps))
  app.route('/', oauthRoutes(deps))

  app.use(requireUser(deps)) // before the checks: a form of a session that ended leads to the login
  app.use(...checks)
  app.route('/', dashboardRoutes(deps))
  app.route('/', apiRoutes(deps, app))
  app.route('/', newProjectRoutes(deps))
  app.route('/', projectRoutes(deps))
  app.route('/', deploymentRoutes(deps))
  app.route('/', serviceRoutes(deps))
  app.route('/', containerRoutes(deps))
  app.route('/', containerLogRoutes(deps))
  app.route('/', terminalRoutes(deps))
  app.route('/', statsRoutes(deps))
  app.route('/', inboxRoutes(deps))
  app.route('/', environmentRoutes(deps))
  app.route('/', actRoutes(deps))
  app.route('/', runRoutes(deps))
  app.route('/', variableRoutes(deps, givenVariables(deps)))
  app.route('/', linkRoutes(deps))
  app.route('/', profileRoutes(deps))
  app.route('/', sessionRoutes(deps))
  app.route('/', gitSourceRoutes(deps))
  app.route('/', registryRoutes(deps))
  app.route('/', gitLookupRoutes(deps))
  app.route('/', tokenRoutes(deps))
  app.route('/', userRoutes(deps))
  app.route('/', activityRoutes(deps))
  app.route('/', grantRoutes(deps))
  app.route('/', auditRoutes(deps))
  app.route('/', pruneRoutes(deps))
  return app
}

/** No inline script or style, no frame, no referrer to other sites; HTTPS for good once it is there. */
const pageHeaders = ({ url, oauth }: Config) =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'", ...(oauth ? [oauth.baseUrl] : [])], // a form that links ends there
      frameAncestors: ["'none'"],
    },
    referrerPolicy: 'same-origin',
    strictTransportSecurity: url?.protocol === 'https:' ? 'max-age=31536000' : false,
  })

/** What a logged-in user sees is stored by no cache, unless a route says otherwise. */
const privateAnswers = () =>
  factory.createMiddleware(async (c, next) => {
    await next()
    const { headers } = c.res // c.header would build the whole answer again by now
    if (c.var.user && !headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
  })

/** Where logins, roles and tokens change: streams that are no longer allowed end before the answer. */
const streamCheck = ({ streams }: Pick<Deps, 'streams'>) =>
  factory.createMiddleware(async (_, next) => {
    await next()
    streams.recheck()
  })

/** 504 after so many seconds. A stream is answered at once and so never meets it. */
const deadline = (seconds: number) =>
  timeout(
    seconds * 1000,
    new HTTPException(504, { message: `This took longer than ${seconds} seconds. Try again.` }),
  )

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
