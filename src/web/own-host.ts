import { isIP } from 'node:net'
import { appsAddress } from '../config.ts'
import type { Config } from '../config.ts'
import { AppError } from '../platform/errors.ts'
import { canonicalHost } from '../platform/hosts.ts'
import { factory } from './factory.ts'

type Place = Pick<Config, 'host' | 'url' | 'domain'>

/**
 * Answers 421 to a name that is not this server's, in every request but a check of its health. Else a
 * page elsewhere could have its own name lead here (DNS rebinding), and speak to Davit as its own site.
 */
export const ownHost = (place: Place) =>
  factory.createMiddleware(async function checkHost(c, next) {
    const asked = c.req.header('Host') ?? new URL(c.req.url).host // absent under app.request()
    if (c.req.path === '/health' || isOwnHost(asked, place)) return next()
    c.header('Cache-Control', 'no-store')
    throw foreign(place)
  })

/** Whether a `Host` is this server's: no name server is asked for an address or for `localhost`. */
export function isOwnHost(host: string, { host: listens, url, domain }: Place) {
  const name = canonicalHost(host.replace(/:\d*$/, ''))
  if (name === null) return false
  if (isIP(name)) return name !== appsAddress // a login there would be the apps' to take
  if (name === 'localhost') return true
  const own = [listens, url?.hostname ?? '', domain ?? ''].map(canonicalHost)
  return own.includes(name) || (domain !== null && name.endsWith(`.${domain}`))
}

function foreign({ url }: Place) {
  const where = url
    ? `Open ${url.origin} instead`
    : 'Open it by its address instead, such as http://127.0.0.1:3000'
  return new AppError(
    'misdirected',
    `The name in the address isn’t one of this Davit. ${where}, or set DAVIT_URL to the address at which people reach it.`,
  )
}
