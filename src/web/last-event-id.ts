import type { Context } from 'hono'

/** A strange id is taken as none, so that a client that keeps sending it does not fail for ever. */
export function lastEventId(c: Context) {
  const id = Number(c.req.header('Last-Event-ID') ?? 0)
  return Number.isSafeInteger(id) && id > 0 ? id : 0
}
