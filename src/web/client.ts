import type { Context } from 'hono'
import type { Config } from '../config.ts'

/** Who asks, and so in which form the answer goes: a page, a fragment, or JSON (decisions: representations). */
export type Client = 'browser' | 'partial' | 'program'

export function clientOf(c: Context): Client {
  if (isWebSocket(c)) return 'program'
  if (c.req.header('HX-Request') === 'true' && c.req.header('HX-Request-Type') !== 'full')
    return 'partial'
  const accept = c.req.header('Accept') ?? '*/*'
  if (accept.includes('text/html')) return 'browser'
  if (accept.includes('json')) return 'program'
  return /^bearer /i.test(c.req.header('Authorization') ?? '') ? 'program' : 'browser'
}

export const isWebSocket = (c: Context) => c.req.header('Upgrade')?.toLowerCase() === 'websocket'

/** The page of ours that a link was followed or a form was sent on, as a path; null where it is none of ours. */
export function pageBefore(c: Context, { url }: Pick<Config, 'url'>) {
  const from = c.req.header('HX-Current-URL') ?? c.req.header('Referer')
  if (!from || !URL.canParse(from)) return null
  const { host, pathname, search } = new URL(from)
  return [url?.host, c.req.header('Host')].includes(host) ? pathname + search : null
}
