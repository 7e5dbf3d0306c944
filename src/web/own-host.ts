import type { Context } from 'hono'
import { isIP } from 'node:net'
import { appsAddress } from '../config.ts'
import type { Config } from '../config.ts'
import { AppError } from '../platform/errors.ts'
import { canonicalHost } from '../platform/hosts.ts'
import { factory } from './factory.ts'
import type { Env } from './factory.ts'

type HostConfig = Pick<Config, 'host' | 'url' | 'domain'>

/**
 * Responds 421 to a host name that isn't this server's, except for health checks. Otherwise another site
 * could point its own name here (DNS rebinding), and use Davit as its own origin.
 */
export const ownHost = (place: HostConfig) =>
  factory.createMiddleware(async function checkHost(c, next) {
    const asked = c.req.header('Host') ?? URL.parse(c.req.url)?.host ?? '' // absent under app.request()
    if (c.req.path === '/health' || isOwnHost(asked, place)) return next()
    c.header('Cache-Control', 'no-store')
    throw foreign(place)
  })

/** True for Davit's own hosts: addresses and `localhost` need no DNS. Names below DAVIT_DOMAIN are apps'. */
export function isOwnHost(host: string, { host: listens, url, domain }: HostConfig) {
  const name = canonicalHost(host.replace(/:\d*$/, ''))
  if (name === null) return false
  if (isIP(name)) return name !== appsAddress // apps could steal a login there
  if (name === 'localhost') return true
  const own = [listens, url?.hostname ?? '', domain ?? ''].map(canonicalHost)
  return own.includes(name)
}

function foreign({ url }: HostConfig) {
  const where = url
    ? `Open ${url.origin} instead`
    : 'Open it by its address instead, such as http://127.0.0.1:3000'
  return new AppError(
    'misdirected',
    `This Davit doesn’t serve that host name. ${where}, or set DAVIT_URL to its public address.`,
  )
}

/** The origin by which the client reaches Davit: the public one, or that of the request. */
export function requestOrigin(c: Context, { url }: Pick<Config, 'url'>) {
  if (url) return url.origin
  const asked = new URL(c.req.url)
  if ((c as Context<Env>).var.isHttps) asked.protocol = 'https:'
  return asked.origin
}
