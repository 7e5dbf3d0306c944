import type { Context } from 'hono'

/** Who asks, and so in which form the answer goes: a page, a fragment, or JSON (decisions: representations). */
export type Client = 'browser' | 'partial' | 'program'

export function clientOf(c: Context): Client {
  if (c.req.header('HX-Request') === 'true' && c.req.header('HX-Request-Type') !== 'full')
    return 'partial'
  const accept = c.req.header('Accept') ?? '*/*'
  if (accept.includes('text/html')) return 'browser'
  if (accept.includes('json')) return 'program'
  return /^bearer /i.test(c.req.header('Authorization') ?? '') ? 'program' : 'browser'
}
