import type { Context } from 'hono'
import { clientOf, pageBefore } from '../web/client.ts'
import { setBoundCookie, takeBoundCookie } from '../web/visitor.ts'
import type { VisitorDeps } from '../web/visitor.ts'

const home = '/dashboard'
const base = 'http://davit.invalid'

const name = 'svc_next'

/** Seconds in which a login leads back to the page that wanted it. */
const memory = 600

/** Characters of an address that are remembered: a cookie holds about 4,000 bytes. */
const longest = 2000

/**
 * Remembers the page that was asked for, or the one whose form was sent, in a cookie of this browser:
 * the login page keeps its plain address.
 */
export function rememberPage(c: Context, deps: VisitorDeps) {
  const value = pageOf(c, deps)
  if (!value || value === home || value.length > longest) return
  setBoundCookie(c, deps, { name, value, maxAge: memory })
}

const pageOf = (c: Context, { config }: VisitorDeps) =>
  c.req.method === 'GET' && clientOf(c) === 'browser'
    ? c.req.path + new URL(c.req.url).search
    : pageBefore(c, config)

/** Where a login leads: to the page remembered, once, else to the dashboard. */
export const takeRememberedPage = (c: Context, deps: VisitorDeps) =>
  nextPage(takeBoundCookie(c, deps, { name }) ?? undefined)

/**
 * The page given, if it is one of ours. Browsers read `\` as `/` and drop tabs
 * and line breaks in an address, so that `/\evil` and `/<tab>/evil` are other hosts too.
 */
export function nextPage(wanted: string | undefined) {
  if (!wanted || !/^\/[^\\\u0000-\u0020\u007f]*$/.test(wanted) || !URL.canParse(wanted, base))
    return home
  const { origin, pathname } = new URL(wanted, base)
  return origin === base && !pathname.startsWith('//') ? wanted : home
}
