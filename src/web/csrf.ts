import type { Context } from 'hono'
import { setCookie } from 'hono/cookie'
import { AppError } from '../platform/errors.ts'
import { hashToken, randomToken, sameSecret } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { cookieOptions, cookieValues } from './cookies.ts'
import { factory } from './factory.ts'
import type { Env } from './factory.ts'
import { fieldsOf } from './form-fields.ts'
import { hasHandler } from './form-method.ts'
import { visitorsOf } from './visitor.ts'
import type { VisitorDeps } from './visitor.ts'

const cookieName = 'svc_csrf'

const unsafe = ['POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Makes a token of the request's session, or of the browser where nobody is logged in, and sets its
 * cookie. Call it again when the session changes.
 */
export function setCsrfToken(c: Context, deps: VisitorDeps) {
  const random = randomToken()
  const token = `${random}.${mac(deps.secrets, holdersOf(c, deps)[0]!, random)}`
  c.set('csrfToken', token)
  setCookie(c, cookieName, token, cookieOptions(deps.config))
}

/** Keeps `csrfToken` set: the one of a cookie that fits who asks, else a new one. */
export const csrfToken = (deps: VisitorDeps) =>
  factory.createMiddleware(async function loadCsrfToken(c, next) {
    if (c.var.token) return next() // no browser sends one by itself, so there is nothing to forge
    const holders = holdersOf(c, deps)
    const token = cookieValues(c, cookieName).find((held) =>
      holders.some((by) => isGenuine(deps.secrets, by, held)),
    )
    if (token) c.set('csrfToken', token)
    else setCsrfToken(c, deps)
    await next()
  })

/**
 * Signed double submit (OWASP): a change must repeat a token of the cookie, which is bound to the
 * session, in the header or the form, and must come from our own pages where the browser says so. The
 * header may repeat several, separated by blanks: a script can't tell ours from those that were planted.
 */
export const csrfCheck = (deps: VisitorDeps) =>
  factory.createMiddleware(async function checkCsrf(c, next) {
    if (unsafe.includes(c.req.method) && !c.var.token && hasHandler(c)) {
      if (!isSameOrigin(c, deps.config.url))
        throw new AppError('forbidden', 'This form was sent from another site. Open it here again.')
      const sent = (c.req.header('X-CSRF-Token') ?? (await formToken(c)))?.split(' ') ?? []
      const repeated = cookieValues(c, cookieName).filter((held) => sent.includes(held))
      const holders = holdersOf(c, deps)
      if (!repeated.some((token) => holders.some((by) => isGenuine(deps.secrets, by, token))))
        throw new AppError(
          'forbidden',
          'The form has expired (its CSRF token does not fit). Load the page again, then repeat.',
        )
    }
    await next()
  })

/** Whom a token is bound to: the session, or a browser that nobody is logged in with. */
function holdersOf(c: Context, deps: VisitorDeps) {
  const { session } = (c as Context<Env>).var
  return session ? [session.id] : visitorsOf(c, deps).map((id) => `visitor ${id}`)
}

function isGenuine(secrets: Secrets, holder: string, token: string) {
  const [random = '', signature = ''] = token.split('.')
  return random !== '' && sameSecret(signature, mac(secrets, holder, random))
}

const mac = (secrets: Secrets, holder: string, random: string) =>
  secrets.sign(`csrf ${hashToken(holder)} ${random}`)

/** `Sec-Fetch-Site` where it is sent, else `Origin`; a client that sends neither is no browser. */
export function isSameOrigin(c: Context, publicUrl: URL | null) {
  const site = c.req.header('Sec-Fetch-Site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('Origin')
  if (origin === undefined) return true
  if (publicUrl) return origin === publicUrl.origin
  return URL.canParse(origin) && new URL(origin).host === c.req.header('Host')
}

/** A form that can't be read has none. */
const formToken = (c: Context) =>
  fieldsOf(c).then(
    (fields) => fields?.get('csrf_token')?.find((value) => typeof value === 'string'),
    () => undefined,
  )
