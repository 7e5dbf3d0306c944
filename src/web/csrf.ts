import type { Context } from 'hono'
import { setCookie } from 'hono/cookie'
import { AppError } from '../platform/errors.ts'
import { hashToken, randomBytesOf, randomToken, sameSecret } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { clientOf } from './client.ts'
import { cookieOptions, cookieValues } from './cookies.ts'
import { factory } from './factory.ts'
import type { Env } from './factory.ts'
import { fieldsOf, isForm } from './form-fields.ts'
import { hasHandler, isGuarded } from './form-method.ts'
import { visitorsOf } from './visitor.ts'
import type { VisitorDeps } from './visitor.ts'

const cookieName = 'svc_csrf'

const unsafe = ['POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Creates a token for the request's session, or for the browser when no one is logged in, and sets its
 * cookie. Call it again when the session changes.
 */
export function setCsrfToken(c: Context, deps: VisitorDeps) {
  const random = randomToken()
  const token = `${random}.${mac(deps.secrets, holdersOf(c, deps)[0]!, random)}`
  c.set('csrfToken', masked(token))
  setCookie(c, cookieName, token, cookieOptions(c, deps.config))
}

/** Keeps `csrfToken` set, masked: that of a valid cookie, else a new one. */
export const csrfToken = (deps: VisitorDeps) =>
  factory.createMiddleware(async function loadCsrfToken(c, next) {
    if (c.var.token) return next() // no browser sends an API token by itself, so the request can't be forged
    const holders = holdersOf(c, deps)
    const token = cookieValues(c, cookieName).find((held) =>
      holders.some((by) => isGenuine(deps.secrets, by, held)),
    )
    if (token) c.set('csrfToken', masked(token))
    else setCsrfToken(c, deps)
    await next()
  })

/**
 * Signed double submit (OWASP): a change must repeat a token of the cookie, which is bound to the session, in
 * the header or the form, masked or not, and must come from our own pages if the browser sends its origin.
 * The header may repeat several, separated by spaces: a script can't distinguish ours from injected ones.
 * Without `mayBeForm` it accepts only the header, and leaves the body unread.
 */
export const csrfCheck = (deps: VisitorDeps, { mayBeForm = true } = {}) =>
  factory.createMiddleware(async function checkCsrf(c, next) {
    if (unsafe.includes(c.req.method) && !c.var.token && hasHandler(c)) {
      if (!isSameOrigin(c, deps.config.url))
        throw new AppError('forbidden', 'This form was sent from another site. Open it here again.')
      const header = c.req.header('X-CSRF-Token')
      const sent = (header ?? (mayBeForm ? await formToken(c) : undefined))?.split(' ') ?? []
      const tokens = sent.map((text) => unmasked(text) ?? text)
      const repeated = cookieValues(c, cookieName).filter((held) =>
        tokens.some((token) => sameSecret(token, held)),
      )
      const holders = holdersOf(c, deps)
      if (!repeated.some((token) => holders.some((by) => isGenuine(deps.secrets, by, token))))
        refuse(c, { mayBeForm })
    }
    await next()
  })

/** Bytes of a token: the random ones and their signature. */
const tokenBytes = 64

/**
 * The token as the pages of one response contain it: other bytes each time, so that the length of a
 * compressed response reveals nothing about it (BREACH).
 */
function masked(token: string) {
  const [random, signature] = token.split('.') as [string, string]
  const bytes = Buffer.concat([Buffer.from(random, 'base64url'), Buffer.from(signature, 'hex')])
  const mask = randomBytesOf(tokenBytes)
  return Buffer.concat([mask, xored(bytes, mask)]).toString('base64url')
}

/** Undefined for anything but a masked token. */
function unmasked(text: string) {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== 2 * tokenBytes) return undefined
  const token = xored(bytes.subarray(tokenBytes), bytes)
  return `${token.toString('base64url', 0, tokenBytes / 2)}.${token.toString('hex', tokenBytes / 2)}`
}

const xored = (bytes: Buffer, mask: Uint8Array) =>
  Buffer.from(bytes.map((byte, at) => byte ^ mask[at]!))

/** A browser's form is rendered again with its input and a valid token; any other request ends here. */
function refuse(c: Context<Env>, { mayBeForm }: { mayBeForm: boolean }) {
  const error = new AppError(
    'forbidden',
    'This form was open too long, so nothing was saved (its CSRF token has expired). Your input is kept. Send it again.',
  )
  const isDrawnAgain =
    mayBeForm && c.req.method === 'POST' && isForm(c) && clientOf(c) === 'browser'
  if (!isDrawnAgain || !isGuarded(c)) throw error
  c.set('refusal', error)
}

/** A token is bound to the session, or to an anonymous browser. */
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

/** Checks `Sec-Fetch-Site` if sent, else `Origin`; a client that sends neither isn't a browser. */
export function isSameOrigin(c: Context, publicUrl: URL | null) {
  const site = c.req.header('Sec-Fetch-Site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('Origin')
  if (origin === undefined) return true
  if (origin === publicUrl?.origin) return true
  if (publicUrl && !(c as Context<Env>).var.isEdges) return false
  return URL.canParse(origin) && new URL(origin).host === c.req.header('Host')
}

/** An unreadable form has none. */
const formToken = (c: Context) =>
  fieldsOf(c).then(
    (fields) => fields?.get('csrf_token')?.find((value) => typeof value === 'string'),
    () => undefined,
  )
