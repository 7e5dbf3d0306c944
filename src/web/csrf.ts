import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { matchedRoutes } from 'hono/route'
import { AppError } from '../errors.ts'
import { hashToken, randomToken, sameSecret } from '../secrets.ts'
import type { Secrets } from '../secrets.ts'
import { factory } from './factory.ts'
import type { Env } from './factory.ts'

const cookieName = 'svc_csrf'
const unsafe = ['POST', 'PUT', 'PATCH', 'DELETE']

type CsrfDeps = { secrets: Secrets; config: { url: URL | null } }

/** Makes a token of the request's session (or of none) and sets its cookie. Call it again when the session changes. */
export function giveCsrfToken(c: Context<Env>, { secrets, config }: CsrfDeps) {
  const random = randomToken()
  const token = `${random}.${mac(secrets, c.var.session?.id, random)}`
  c.set('csrfToken', token)
  setCookie(c, cookieName, token, {
    path: '/',
    sameSite: 'Lax',
    secure: config.url?.protocol === 'https:',
  })
}

/** Keeps `csrfToken` set: the one of the cookie while it fits the session, else a new one. */
export const csrfToken = (deps: CsrfDeps) =>
  factory.createMiddleware(async function loadCsrfToken(c, next) {
    const token = getCookie(c, cookieName)
    if (token && isGenuine(deps.secrets, c.var.session?.id, token)) c.set('csrfToken', token)
    else giveCsrfToken(c, deps)
    await next()
  })

/**
 * Signed double submit (OWASP): a change must repeat the cookie's token, which is bound to the
 * session, in the header or the form, and must come from our own pages where the browser says so.
 */
export const csrfCheck = (deps: CsrfDeps) =>
  factory.createMiddleware(async function checkCsrf(c, next) {
    if (unsafe.includes(c.req.method) && hasHandler(c)) {
      if (!isSameOrigin(c, deps.config.url))
        throw new AppError('forbidden', 'This form was sent from another site. Open it here again.')
      const sent = c.req.header('X-CSRF-Token') ?? (await formToken(c))
      const held = getCookie(c, cookieName)
      if (!sent || !held || !sameSecret(sent, held) || !isOurs(deps, c, sent))
        throw new AppError(
          'forbidden',
          'The form has expired (its CSRF token does not fit). Load the page again, then repeat.',
        )
    }
    await next()
  })

/** Whether a route, not only middleware, will answer: 404 and 405 come before any other refusal. */
export const hasHandler = (c: Context) =>
  matchedRoutes(c).some(({ method }) => method === c.req.method)

const isOurs = ({ secrets }: CsrfDeps, c: Context<Env>, token: string) =>
  isGenuine(secrets, c.var.session?.id, token)

function isGenuine(secrets: Secrets, sessionId: string | undefined, token: string) {
  const [random = '', signature = ''] = token.split('.')
  return random !== '' && sameSecret(signature, mac(secrets, sessionId, random))
}

const mac = (secrets: Secrets, sessionId: string | undefined, random: string) =>
  secrets.sign(`csrf ${sessionId ? hashToken(sessionId) : 'anonymous'} ${random}`)

/** `Sec-Fetch-Site` where it is sent, else `Origin`; a client that sends neither is no browser. */
function isSameOrigin(c: Context, publicUrl: URL | null) {
  const site = c.req.header('Sec-Fetch-Site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('Origin')
  if (origin === undefined) return true
  if (publicUrl) return origin === publicUrl.origin
  return URL.canParse(origin) && new URL(origin).host === c.req.header('Host')
}

async function formToken(c: Context) {
  if (!/^(application\/x-www-form-urlencoded|multipart\/form-data)/i.test(c.req.header('Content-Type') ?? ''))
    return undefined
  const token = (await c.req.parseBody())['csrf_token']
  return typeof token === 'string' ? token : undefined
}
