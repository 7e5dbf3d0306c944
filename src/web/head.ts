import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { factory } from './factory.ts'

/**
 * Gives the response to a HEAD the length of a GET's. Hono drops its body, and without a length Bun sends 0.
 * Streams respond with `headOfStream`: one that doesn't would be read to its end.
 */
export const headLength = () =>
  factory.createMiddleware(async function setHeadLength(c, next) {
    await next()
    if (c.req.method !== 'HEAD' || !c.res.body) return
    const { byteLength } = await c.res.arrayBuffer()
    c.res.headers.set('Content-Length', String(byteLength))
  })

/** The response to a HEAD for a stream, whose length no one knows. */
export const headOfStream = (
  c: Context,
  status: ContentfulStatusCode,
  headers: Record<string, string>,
) => c.body(null, status, { ...headers, 'Transfer-Encoding': 'chunked' })
