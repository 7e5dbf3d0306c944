import { methodNotAllowed } from 'hono/method-not-allowed'
import { profileRoutes } from '../../src/accounts/profile-routes.tsx'
import { requireUser, loadSession } from '../../src/accounts/session.ts'
import { invite } from '../../src/accounts/invite.tsx'
import { forgottenRoutes } from '../../src/accounts/forgotten-routes.tsx'
import { accountRoutes, sessionRoutes } from '../../src/accounts/routes.tsx'
import { apiToken } from '../../src/accounts/api-token.tsx'
import { checkScope } from '../../src/accounts/token-scope.ts'
import { resourceRoutes } from '../../src/resources/routes.tsx'
import { auditor } from '../../src/audit/record.ts'
import { auditRoutes } from '../../src/audit/routes.tsx'
import { parseConfig } from '../../src/config.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { clientAddress } from '../../src/web/client-address.ts'
import { csrfCheck, csrfToken } from '../../src/web/csrf.ts'
import { factory } from '../../src/web/factory.ts'
import { readFormMethod } from '../../src/web/form-method.ts'
import { requireAdmin, userOf } from '../../src/web/user-of.ts'
import { answerError, answerMethodNotAllowed, answerNotFound } from '../../src/web/failures.tsx'
import { newDatabases } from '../support/databases.ts'

// No promise here depends on what a hash costs, and most tests register someone. Other tests share the process.
export const { hash: costlyHash } = Bun.password
export const cheap = { algorithm: 'argon2id', memoryCost: 64, timeCost: 1 } as const
Bun.password.hash = (password, how) =>
  costlyHash(password, typeof how === 'object' && how.algorithm === 'bcrypt' ? how : cheap)

/** All of an application that its visitors need. */
type App = {
  request(path: string, init: RequestInit, env?: object): Response | Promise<Response>
}

export const ada = { email: 'ada@example.com', password: 'correct horse battery' }
export const bob = { email: 'bob@example.com', password: 'a staple for the paper' }

/** The accounts slice behind its middleware, in memory, with a page for users, which takes changes, and one for admins. */
export function accountsApp({
  env = {},
  setupCode = null,
}: { env?: Record<string, string>; setupCode?: string | null } = {}) {
  const deps = {
    db: newDatabases().db,
    secrets: new Secrets('a secret of the tests, 32 bytes long'),
    config: parseConfig(env),
    setupCode,
  }
  const app = factory.createApp()
  app
    .use(methodNotAllowed({ app, onMethodNotAllowed: answerMethodNotAllowed }))
    .use(clientAddress(deps.config.trustedProxies), loadSession(deps))
    .use(csrfToken(deps), checkScope)
    .use('/auth/*', csrfCheck(deps), readFormMethod)
    .route('/', accountRoutes(deps))
    .route('/', forgottenRoutes(deps))
    .use(requireUser(deps))
    .use(csrfCheck(deps), readFormMethod)
    .route('/', profileRoutes(deps))
    .route('/', sessionRoutes(deps))
    .route('/', resourceRoutes(deps, invite))
    .route('/', resourceRoutes(deps, apiToken))
    .route('/', auditRoutes(deps))
    .get('/dashboard', (c) => c.json(userOf(c)))
    .post('/dashboard', (c) => {
      auditor(deps.db)(c, 'deployment.triggered', { details: { dry_run: 'yes' } })
      return c.json(userOf(c))
    })
    .get('/admin', requireAdmin, (c) => c.json({}))
  app.onError(answerError)
  app.notFound(answerNotFound)
  return { ...deps, app }
}

type Options = { accept?: string; headers?: Record<string, string>; csrf?: string | null }

/** A browser's cookies and address; as a program it speaks JSON, else it posts forms. */
export class Visitor {
  readonly cookies = new Map<string, string>()

  constructor(
    readonly app: App,
    readonly address = '198.51.100.7',
  ) {}

  get(path: string, options: Options = {}) {
    return this.send(path, { method: 'GET' }, { accept: 'text/html', ...options })
  }

  /** Sends a native form, with the token that a page would have in it. */
  async post(path: string, fields: Record<string, string> = {}, options: Options = {}) {
    const csrf = options.csrf === undefined ? await this.token() : options.csrf
    const body = new URLSearchParams({ ...fields, ...(csrf !== null && { csrf_token: csrf }) })
    return this.send(path, { method: 'POST', body }, { accept: 'text/html', ...options })
  }

  json(path: string, body?: unknown, options: Options = {}) {
    return this.call('POST', path, body, options)
  }

  put(path: string, body?: unknown, options: Options = {}) {
    return this.call('PUT', path, body, options)
  }

  /** What htmx sends; fields go as a form. */
  async htmx(method: string, path: string, fields: Record<string, string> = {}) {
    const headers = { 'HX-Request': 'true', 'X-CSRF-Token': await this.token() }
    const body = method === 'GET' ? {} : { body: new URLSearchParams(fields) }
    return this.send(path, { method, ...body }, { accept: 'text/html', headers })
  }

  delete(path: string, options: Options = {}) {
    return this.call('DELETE', path, undefined, options)
  }

  private async call(method: string, path: string, body: unknown, options: Options) {
    const csrf = options.csrf === undefined ? await this.token() : options.csrf
    const headers = {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(csrf !== null && { 'X-CSRF-Token': csrf }),
      ...options.headers,
    }
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
    return this.send(path, init, { accept: 'application/json', ...options, headers })
  }

  async token() {
    if (!this.cookies.has('svc_csrf'))
      await this.get('/nothing-here', { accept: 'application/json' })
    return this.cookies.get('svc_csrf')!
  }

  private async send(path: string, init: RequestInit, { accept = '*/*', headers = {} }: Options) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const request = { ...init, headers: { Accept: accept, ...(cookie && { cookie }), ...headers } }
    const server = { requestIP: () => ({ address: this.address }) }
    const response = await this.app.request(path, request, { server })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (value) this.cookies.set(name!, value)
      else this.cookies.delete(name!)
    }
    return response
  }
}

/** A program with nothing but an API token; other headers on request. */
export const asToken =
  (app: App, token: string) =>
  (method: string, path: string, init: RequestInit = {}) =>
    app.request(path, {
      ...init,
      method,
      headers: { Authorization: `Bearer ${token}`, ...init.headers },
    })

/** Registers and stays logged in. */
export async function registered(app: App, { email, password }: typeof ada, extra: object = {}) {
  const visitor = new Visitor(app)
  const response = await visitor.json('/auth/register', { email, password, ...extra })
  if (response.status !== 201) throw new Error(await response.text())
  return visitor
}
