import { isIP } from 'node:net'
import { canonicalHost, inCidrs } from '../platform/hosts.ts'
import { factory } from './factory.ts'

/**
 * Sets `peer`, the socket's address, and `address`: the same, or behind a trusted proxy the right-most
 * hop of X-Forwarded-For that is no trusted proxy itself. What a client writes left of that is ignored.
 */
export const clientAddress = (trustedProxies: string[]) =>
  factory.createMiddleware(async function readClientAddress(c, next) {
    const socket = c.env?.server?.requestIP(c.req.raw)?.address
    const peer = plainAddress(socket ?? '') ?? '127.0.0.1'
    const hops = (c.req.header('X-Forwarded-For') ?? '').split(',')
    let address = peer
    while (inCidrs(address, trustedProxies)) {
      const hop = plainAddress(hops.pop() ?? '')
      if (!hop) break // the chain ends here, or goes on with something that no proxy writes
      address = hop
    }
    c.set('peer', peer)
    c.set('address', address)
    await next()
  })

/** What one subscriber holds: an IPv4 address, or of IPv6 a whole /64, in which addresses cost nothing. */
export function networkOf(address: string) {
  if (isIP(address) !== 6) return address
  const [head = '', tail = ''] = address.split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail.split(':').filter(Boolean)
  const zeros = new Array<string>(8 - left.length - right.length).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}

/** One spelling for each address, or null when the text is none. */
function plainAddress(text: string) {
  const address = canonicalHost(text.trim().replace(/%.*/, '')) // an IPv6 zone is a matter of this host
  return address !== null && isIP(address) ? address : null
}
