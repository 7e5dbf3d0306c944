import type { Context } from 'hono'
import type { Config } from '../config.ts'

/** Decides the form of the response: a page, a fragment, or JSON (decisions: representations). */
export type Client = 'browser' | 'partial' | 'program'

export function clientOf(c: Context): Client {
  if (isWebSocket(c)) return 'program'
  if (c.req.header('HX-Request') === 'true' && c.req.header('HX-Request-Type') !== 'full')
    return 'partial'
  const accept = (c.req.header('Accept') ?? '*/*').toLowerCase()
  if (accept.includes('text/html')) return 'browser'
  if (/json|openmetrics/.test(accept)) return 'program'
  return /^bearer /i.test(c.req.header('Authorization') ?? '') ? 'program' : 'browser'
}

export const isWebSocket = (c: Context) => c.req.header('Upgrade')?.toLowerCase() === 'websocket'

/**
 * The path of our page with the link or form of this request. Null for other sites, and for a path that a
 * browser would take for another host: `//host`.
 */
export function pageBefore(c: Context, { url }: Pick<Config, 'url'>) {
  const from = c.req.header('HX-Current-URL') ?? c.req.header('Referer')
  if (!from || !URL.canParse(from)) return null
  const { host, pathname, search } = new URL(from)
  const isOurs = [url?.host, c.req.header('Host')].includes(host) && !pathname.startsWith('//')
  return isOurs ? pathname + search : null
}
