import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { AppError } from '../errors.ts'
import { hashToken, randomToken, sameSecret } from '../secrets.ts'
import type { Secrets } from '../secrets.ts'
import { cookieOptions } from './cookies.ts'
import { factory } from './factory.ts'
import type { Env } from './factory.ts'
import { hasHandler } from './has-handler.ts'

const cookieName = 'svc_csrf'

/** Genuine tokens remembered at most. */
const mostKnown = 1000

const unsafe = ['POST', 'PUT', 'PATCH', 'DELETE']

type CsrfDeps = { secrets: Secrets; config: { url: URL | null } }

/** Makes a token of the request's session (or of none) and sets its cookie. Call it again when the session changes. */
export function giveCsrfToken(c: Context, { secrets, config }: CsrfDeps) {
  const { session } = (c as Context<Env>).var
  const random = randomToken()
  const token = `${random}.${mac(secrets, session?.id, random)}`
  c.set('csrfToken', token)
  setCookie(c, cookieName, token, cookieOptions(config))
}

/** Keeps `csrfToken` set: the one of the cookie while it fits the session, else a new one. */
export const csrfToken = (deps: CsrfDeps) => {
  /** Tokens found genuine, with their session: signing anew for each page takes longer than all else. */
  const known = new Set<string>()

  return factory.createMiddleware(async function loadCsrfToken(c, next) {
    if (c.var.token) return next() // no browser sends one by itself, so there is nothing to forge
    const token = getCookie(c, cookieName)
    if (token && fits(c.var.session?.id, token)) c.set('csrfToken', token)
    else giveCsrfToken(c, deps)
    await next()
  })

  function fits(sessionId: string | undefined, token: string) {
    const pair = `${sessionId ?? ''} ${token}`
    if (known.has(pair)) return true
    if (!isGenuine(deps.secrets, sessionId, token)) return false
    if (known.size >= mostKnown) known.clear()
    known.add(pair)
    return true
  }
}

/**
 * Signed double submit (OWASP): a change must repeat the cookie's token, which is bound to the
 * session, in the header or the form, and must come from our own pages where the browser says so.
 */
export const csrfCheck = (deps: CsrfDeps) =>
  factory.createMiddleware(async function checkCsrf(c, next) {
    if (unsafe.includes(c.req.method) && !c.var.token && hasHandler(c)) {
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
  const type = c.req.header('Content-Type') ?? ''
  if (!/^(application\/x-www-form-urlencoded|multipart\/form-data)/i.test(type)) return undefined
  const form = await c.req.parseBody().catch(() => null)
  const token = form?.['csrf_token'] // a broken form has none
  return typeof token === 'string' ? token : undefined
}
