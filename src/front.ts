import type { Hono, MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { timeout } from 'hono/timeout'
import { loadSession } from './accounts/session.ts'
import { checkScope } from './accounts/token-scope.ts'
import type { Deps } from './assemble.ts'
import type { Config } from './config.ts'
import { onDemand } from './platform/on-demand.ts'
import { clientAddress } from './web/client-address.ts'
import { compress } from './web/compress.ts'
import { csrfToken } from './web/csrf.ts'
import { factory } from './web/factory.ts'
import type { Env } from './web/factory.ts'
import { headLength } from './web/head.ts'
import { healthRoutes, isHealthCheck } from './web/health.ts'
import { ownHost } from './web/own-host.ts'
import { rateLimit } from './web/rate-limit.ts'
import { refuseContainers } from './web/refuse-containers.ts'
import { requestLog } from './web/request-log.ts'

/**
 * The middleware that every request passes, in the required order, and the health check: all that a
 * server without visitors needs. `signed` routes come before anything that reads cookies, and have their
 * own limits; `assets` need no session, and set no cookie on cacheable responses.
 */
export function createFront(
  deps: Deps,
  { signed, assets }: { signed?: Hono<Env>; assets?: Hono<Env> } = {},
) {
  const { config } = deps
  const app = factory.createApp()
  app.onError(async (error, c) => (await failures()).answerError(error, c))
  app.notFound(async (c) => (await failures()).answerNotFound(c))
  app.use(requestId(), clientAddress(config.trustedProxies), requestLog(), headLength(), compress())
  app.use(
    pageHeaders(config),
    methodNotAllowed({
      app,
      onMethodNotAllowed: async (c, methods) =>
        (await failures()).answerMethodNotAllowed(c, methods),
    }),
  )
  if (signed) app.route('/', signed)
  app.use(ownHost(config))
  app.use(refuseContainers(deps)) // git servers are exempt: their webhooks are signed
  app.use(rateLimit({ rate: config.rateLimit, burst: config.rateBurst }))
  if (assets) app.route('/', assets)
  app.use(loadSession(deps), privateAnswers(), csrfToken(deps))
  app.use(deadline(config.requestTimeout), checkScope, noteVersion(deps))
  app.route('/', healthRoutes(deps))
  return app
}

/** Loaded with the first failure, since error pages need everything that pages are made of. */
const failures = () => import('./web/failures.tsx')

type App = ReturnType<typeof createFront>

/**
 * Responds to requests. `load` loads the application with the first request other than a
 * health check: until then its modules use no memory, and the start doesn't wait for them. If
 * loading fails, that request gets the error, and the next one tries again.
 */
export function lazyApp(deps: Deps, load: () => Promise<App>) {
  const front = createFront(deps)
  const whole = onDemand(load)
  const unloaded = (error: unknown) =>
    createFront(deps).all('*', () => {
      throw error
    })
  return async (request: Request, env: Env['Bindings']) => {
    // without a Host header the URL is only a path
    const path = URL.parse(request.url, 'http://localhost')?.pathname ?? ''
    const app = isHealthCheck(path) ? front : await whole().catch(unloaded)
    return app.fetch(request, env)
  }
}

/** No inline scripts or styles, no frames, no referrer to other sites; HSTS when on HTTPS. */
const pageHeaders = ({ url, oauth }: Config) =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'", ...(oauth ? [oauth.baseUrl] : [])], // the form to link a login redirects there
      frameAncestors: ["'none'"],
    },
    referrerPolicy: 'same-origin',
    strictTransportSecurity: url?.protocol === 'https:' ? 'max-age=31536000' : false,
  })

const noteVersion = ({ changes }: Pick<Deps, 'changes'>) =>
  factory.createMiddleware((c, next) => {
    c.set('seenVersion', changes.version)
    return next()
  })

/** No cache may store what a logged-in user sees, unless a route allows it. */
const privateAnswers = () =>
  factory.createMiddleware(async (c, next) => {
    await next()
    const { headers } = c.res // c.header would rebuild the whole response here
    if (c.var.user && !headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
  })

/** Responds with 504 after so many seconds. A stream responds at once, so this never applies to it. */
const deadline = (seconds: number) => {
  const [usual, long] = [seconds, Math.max(seconds, longTimeout)].map((most) => {
    const message = `This took longer than ${most} seconds. Try again.`
    return timeout(most * 1000, new HTTPException(504, { message }))
  }) as [MiddlewareHandler, MiddlewareHandler]
  return factory.createMiddleware((c, next) => {
    if (c.req.method === 'GET' || !isLong.test(c.req.path))
      return c.req.method === 'POST' && isUpload.test(c.req.path) ? next() : usual(c, next)
    c.env?.server?.timeout(c.req.raw, longTimeout + 15)
    return long(c, next)
  })
}

/** Seconds, fewer than after which htmx gives up. */
const longTimeout = 55

/**
 * What it stores is tried out first, elsewhere; a server also joins the swarm, or leaves. Before a move begins
 * and is waited for, volumes are measured and what the last one left is removed.
 */
const isLong =
  /^\/(settings\/(targets|channels|servers)\b|auth\/join$|(services|envs)\/[^/]+\/move$)/

/** It has a limit of its own: without a byte for too long it ends. */
const isUpload = /^\/projects\/[^/]+\/uploads$/
