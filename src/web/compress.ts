import type { Context } from 'hono'
import { promisify } from 'node:util'
import { factory } from './factory.ts'

/** Smaller responses, in bytes, fit into one packet anyway. */
const least = 1024

/** Pages, JSON and metrics; no streams of events, no files. */
const compressible =
  /^text\/(html|plain; version)|^application\/((problem\+)?json|openmetrics-text)/

/** On other threads; the first one costs less for the same size. */
const encodings = {
  zstd: (bytes: ArrayBuffer) => Bun.zstdCompress(bytes),
  async gzip(bytes: ArrayBuffer) {
    const { gzip } = await import('node:zlib') // a megabyte that a server without visitors saves
    return promisify<ArrayBuffer, Buffer>(gzip)(bytes)
  },
}

/** Compresses responses if the client accepts that and it is worthwhile. */
export const compress = () =>
  factory.createMiddleware(async function compressAnswer(c, next) {
    await next()
    const { status, headers } = c.res
    if (!compressible.test(headers.get('Content-Type') ?? '')) return
    headers.append('Vary', 'Accept-Encoding')
    const mayNot = headers.has('Content-Encoding') || isNeverPacked(headers)
    const encoding = mayNot ? null : encodingOf(c)
    if (!encoding) return
    const plain = await c.res.arrayBuffer()
    const isWorthIt = plain.byteLength >= least
    if (isWorthIt) headers.set('Content-Encoding', encoding)
    const body = isWorthIt ? await encodings[encoding](plain) : plain
    c.res = undefined // otherwise its headers would be joined with those of the next
    c.res = new Response(body, { status, headers })
  })

const isNeverPacked = (headers: Headers) =>
  /\bno-transform\b/.test(headers.get('Cache-Control') ?? '')

/**
 * For a response that shows a secret: it is never stored, nor compressed, since its length would reveal the
 * secret to someone who controls text beside it (BREACH).
 */
export const showsSecret = (c: Context) => c.header('Cache-Control', 'no-store, no-transform')

/** The best encoding that the client accepts; null when it accepts none of ours. */
export function encodingOf(c: Context) {
  const accepted = (c.req.header('Accept-Encoding') ?? '').split(',').flatMap((one) => {
    const [name, ...parameters] = one.toLowerCase().split(';')
    return parameters.some((text) => /^\s*q=0(\.0*)?\s*$/.test(text)) ? [] : [name!.trim()]
  })
  return (['zstd', 'gzip'] as const).find((name) => accepted.includes(name)) ?? null
}
