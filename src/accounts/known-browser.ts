import type { Context } from 'hono'
import { setCookie } from 'hono/cookie'
import type { Config } from '../config.ts'
import { randomToken, sameSecret } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { cookieOptions, cookieValues, hostCookie, isHttps } from '../web/cookies.ts'
import type { UserRow } from './store.ts'

type BrowserDeps = { config: Config; secrets: Secrets }
type Owner = Pick<UserRow, 'id' | 'passwordHash'>

const cookieName = (c: Context, { config }: BrowserDeps) =>
  hostCookie('svc_browser', { isSecure: isHttps(c, config) })

/** In seconds, after a login. */
const maxAge = 180 * 24 * 3600

/** A new password invalidates it, since someone else may have logged in with the old one. */
const signatureOf = ({ secrets }: BrowserDeps, { id, passwordHash }: Owner, browser: string) =>
  secrets.sign(`browser ${browser} of ${id} ${passwordHash ?? ''}`)

/** Remembers a browser that this user logged in with, so that strangers' failures don't lock them out. */
export function rememberBrowser(c: Context, deps: BrowserDeps, user: Owner) {
  const browser = randomToken()
  const value = `${browser}.${signatureOf(deps, user, browser)}`
  const options = { ...cookieOptions(c, deps.config), httpOnly: true, maxAge }
  setCookie(c, cookieName(c, deps), value, options)
}

export function knownBrowser(c: Context, deps: BrowserDeps, user: Owner): string | null {
  for (const value of cookieValues(c, cookieName(c, deps))) {
    const [browser = '', signature = ''] = value.split('.')
    if (sameSecret(signature, signatureOf(deps, user, browser))) return browser
  }
  return null
}
