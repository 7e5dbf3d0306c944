import type { Context } from 'hono'
import { clientOf, pageBefore } from '../web/client.ts'
import { readBoundCookie, setBoundCookie, takeBoundCookie } from '../web/visitor.ts'
import type { VisitorDeps } from '../web/visitor.ts'

const home = '/dashboard'
const base = 'http://davit.invalid'

const name = 'svc_next'

/** Seconds in which a login leads back to the page that required it. */
const memory = 600

/** Characters of an address in a cookie, without its signature: the edge passes on 2,000 of this one. */
const longest = 1900

/** Stands before the page whose form was sent in vain. */
const unsent = '!'

/**
 * Stores the requested page, or the one whose form was sent, in a cookie: the
 * login page keeps its plain address.
 */
export function rememberPage(c: Context, deps: VisitorDeps) {
  const isForm = c.req.method !== 'GET'
  const page = pageOf(c, deps) ?? home
  if ((!isForm && page === home) || encodeURIComponent(page).length > longest) return
  // what a page looks up by itself doesn't take the place of the form that was sent from it
  if (!isForm && clientOf(c) === 'partial' && isBehindForm(c, deps)) return
  setBoundCookie(c, deps, { name, value: isForm ? unsent + page : page, maxAge: memory })
}

/** Whether the login stands between a form that was sent and its page. */
export const isBehindForm = (c: Context, deps: VisitorDeps) =>
  readBoundCookie(c, deps, name)?.startsWith(unsent) ?? false

const pageOf = (c: Context, { config }: VisitorDeps) =>
  c.req.method === 'GET' && clientOf(c) === 'browser'
    ? c.req.path + new URL(c.req.url).search
    : pageBefore(c, config)

/** Where a login leads: to the stored page, once, else to the dashboard. */
export const takeRememberedPage = (c: Context, deps: VisitorDeps) =>
  nextPage(takeBoundCookie(c, deps, { name })?.replace(/^!/, ''))

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
