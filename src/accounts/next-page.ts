import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Config } from '../config.ts'
import { cookieOptions } from '../web/cookies.ts'

const home = '/dashboard'
const base = 'http://davit.invalid'

const cookieName = 'svc_next'

/** Seconds in which a login leads back to the page that wanted it. */
const memory = 600

/** Remembers the page that was asked for, in a cookie: the login page keeps its plain address. */
export function rememberPage(c: Context, config: Pick<Config, 'url'>) {
  const { path, method, url } = c.req
  if (method !== 'GET' || path === home) return
  const wanted = path + new URL(url).search
  setCookie(c, cookieName, wanted, { ...cookieOptions(config), httpOnly: true, maxAge: memory })
}

/** Where a login leads: to the page remembered, once, else to the dashboard. */
export function takeRememberedPage(c: Context) {
  const wanted = getCookie(c, cookieName)
  if (wanted !== undefined) deleteCookie(c, cookieName, { path: '/' })
  return nextPage(wanted)
}

/**
 * The page given, if it is one of ours: a cookie can be planted. Browsers read `\` as `/` and drop tabs
 * and line breaks in an address, so that `/\evil` and `/<tab>/evil` are other hosts too.
 */
export function nextPage(wanted: string | undefined) {
  if (!wanted || !/^\/[^\\\u0000-\u0020\u007f]*$/.test(wanted) || !URL.canParse(wanted, base))
    return home
  const { origin, pathname } = new URL(wanted, base)
  return origin === base && !pathname.startsWith('//') ? wanted : home
}
