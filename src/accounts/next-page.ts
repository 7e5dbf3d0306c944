import type { Context } from 'hono'

const home = '/dashboard'
const base = 'http://davit.invalid'

/** The login page, which leads back to the page that was asked for. */
export function loginPath(c: Context) {
  const { path, method } = c.req
  if (method !== 'GET' || path === home) return '/login'
  return `/login?next=${encodeURIComponent(path + new URL(c.req.url).search)}`
}

/**
 * Where a login leads: to the page given, if it is one of ours. Browsers read `\` as `/` and drop tabs
 * and line breaks in an address, so that `/\evil` and `/<tab>/evil` are other hosts too.
 */
export function nextPage(wanted: string | undefined | null) {
  if (!wanted || !/^\/[^\\\u0000-\u0020\u007f]*$/.test(wanted) || !URL.canParse(wanted, base))
    return home
  const { origin, pathname } = new URL(wanted, base)
  return origin === base && !pathname.startsWith('//') ? wanted : home
}
