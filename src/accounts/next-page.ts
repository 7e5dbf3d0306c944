import type { Context } from 'hono'
import { clientOf, pageBefore } from '../web/client.ts'
import { readBoundCookie, setBoundCookie, takeBoundCookie } from '../web/visitor.ts'
import type { VisitorDeps } from '../web/visitor.ts'

const home = '/dashboard'
const base = 'http://davit.invalid'

const name = 'svc_next'

/** In seconds: after this time a login no longer returns to the page that required it. */
const memory = 600

/** In characters without the signature, since the edge accepts 2,000 for this cookie. */
const longest = 1900

/** Marks a page whose form was sent and not processed. */
const unsent = '!'

/**
 * Stores the requested page, or the page of the form that was sent, in a cookie, so that the login page keeps
 * its plain address.
 */
export function rememberPage(c: Context, deps: VisitorDeps) {
  const isForm = c.req.method !== 'GET'
  const page = pageOf(c, deps) ?? home
  if ((!isForm && page === home) || encodeURIComponent(page).length > longest) return
  // A page's own requests must not replace the form that was sent from it.
  if (!isForm && clientOf(c) === 'partial' && isBehindForm(c, deps)) return
  setBoundCookie(c, deps, { name, value: isForm ? unsent + page : page, maxAge: memory })
}

export const isBehindForm = (c: Context, deps: VisitorDeps) =>
  readBoundCookie(c, deps, name)?.startsWith(unsent) ?? false

const pageOf = (c: Context, { config }: VisitorDeps) =>
  c.req.method === 'GET' && clientOf(c) === 'browser'
    ? c.req.path + new URL(c.req.url).search
    : pageBefore(c, config)

/** The page after a login: the stored one, once, else the dashboard. */
export const takeRememberedPage = (c: Context, deps: VisitorDeps) =>
  nextPage(takeBoundCookie(c, deps, { name })?.replace(/^!/, ''))

/**
 * Only returns one of Davit's own pages. Browsers read `\` as `/` and drop tabs and line breaks in an
 * address, so `/\evil` and `/<tab>/evil` are other hosts too.
 */
export function nextPage(wanted: string | undefined) {
  if (!wanted || !/^\/[^\\\u0000-\u0020\u007f]*$/.test(wanted) || !URL.canParse(wanted, base))
    return home
  const { origin, pathname } = new URL(wanted, base)
  return origin === base && !pathname.startsWith('//') ? wanted : home
}
