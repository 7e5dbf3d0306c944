import { inCidrs } from '../hosts.ts'
import { factory } from './factory.ts'

/**
 * Sets `address`: the socket's, or behind a trusted proxy the right-most hop of X-Forwarded-For
 * that is no trusted proxy itself. Whatever a client writes to the left of that counts for nothing.
 */
export const clientAddress = (trustedProxies: string[]) =>
  factory.createMiddleware(async (c, next) => {
    const peer = c.env?.server?.requestIP(c.req.raw)?.address ?? '127.0.0.1'
    const hops = (c.req.header('X-Forwarded-For') ?? '').split(',').map((hop) => hop.trim())
    const path = [...hops.filter(Boolean), peer.replace(/^::ffff:/, '')]
    let address = path.pop()!
    while (path.length > 0 && inCidrs(address, trustedProxies)) address = path.pop()!
    c.set('address', address)
    await next()
  })
