import type { Context } from 'hono'
import type { Config } from '../config.ts'

type Place = Pick<Config, 'url'>

const isHttps = ({ url }: Place) => url?.protocol === 'https:'

/** What all cookies of Davit have in common; Secure where the public address is HTTPS. */
export const cookieOptions = (config: Place) =>
  ({ path: '/', sameSite: 'Lax', secure: isHttps(config) }) as const

/** A name that, over HTTPS, no other host can set and nothing can set without TLS (RFC 6265bis). */
export const hostCookie = (name: string, config: Place) =>
  isHttps(config) ? `__Host-${name}` : name

/** Values of one name that are looked at; a browser sends those with longer paths first. */
const mostValues = 8

/**
 * All values that came under a name, ours last: whoever shares our host can add cookies with a longer
 * path, which shadow ours for everything that reads only the first.
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
