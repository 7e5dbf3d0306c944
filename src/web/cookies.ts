import type { Context } from 'hono'
import type { Config } from '../config.ts'
import type { Env } from './factory.ts'

type UrlConfig = Pick<Config, 'url'>

/** True when the browser uses HTTPS: by the public address, or as reported by the edge. */
export const isHttps = (c: Context, { url }: UrlConfig): boolean =>
  url?.protocol === 'https:' || (c as Context<Env>).var.isHttps

/** The attributes of all cookies; Secure if the browser uses HTTPS. */
export const cookieOptions = (c: Context, config: UrlConfig) =>
  ({ path: '/', sameSite: 'Lax', secure: isHttps(c, config) }) as const

/** Over HTTPS, no other host can set such a cookie, and nothing can without TLS (RFC 6265bis). */
export const hostCookie = (name: string, { isSecure }: { isSecure: boolean }) =>
  isSecure ? `__Host-${name}` : name

/** Values of one name that are read; a browser sends those with longer paths first. */
const mostValues = 8

/**
 * All values of a name, ours last: anyone on our host can add cookies with a longer path, which shadow ours
 * for code that only reads the first.
 */
export const cookieValues = (c: Context, name: string) =>
  (c.req.header('Cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(-mostValues)
    .map((pair) => decode(pair.slice(name.length + 1)))

function decode(value: string) {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
