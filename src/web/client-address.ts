import { isIP } from 'node:net'
import { canonicalHost, inCidrs } from '../platform/hosts.ts'
import { factory } from './factory.ts'

/**
 * Sets `peer`, the address that connected to Davit or to the edge, and `address`: the same or, behind a
 * trusted proxy, the rightmost hop of X-Forwarded-For that isn't a trusted proxy itself. Anything a client
 * writes left of that is ignored. The edge appends the address that connected to it, and whether the request
 * used HTTPS.
 */
export const clientAddress = (trustedProxies: string[]) =>
  factory.createMiddleware(async function readClientAddress(c, next) {
    const isEdges = c.env?.isEdges === true
    const hops = (c.req.header('X-Forwarded-For') ?? '').split(',')
    const socket = isEdges ? hops.pop() : c.env?.server?.requestIP(c.req.raw)?.address
    const peer = plainAddress(socket ?? '') ?? '127.0.0.1'
    let address = peer
    while (inCidrs(address, trustedProxies)) {
      const hop = plainAddress(hops.pop() ?? '')
      if (!hop) break // the chain ends here, or continues with something that no proxy writes
      address = hop
    }
    c.set('isEdges', isEdges)
    c.set('isHttps', isEdges && c.req.header('X-Forwarded-Proto') === 'https')
    c.set('peer', peer)
    c.set('address', address)
    await next()
  })

/** The address of one subscriber: IPv4, or a whole IPv6 /64, in which anyone can choose addresses. */
export function networkOf(address: string) {
  if (isIP(address) !== 6) return address
  const [head = '', tail = ''] = address.split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail.split(':').filter(Boolean)
  const zeros = new Array<string>(8 - left.length - right.length).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}

/** Null when invalid. */
function plainAddress(text: string) {
  const address = canonicalHost(text.trim().replace(/%.*/, '')) // an IPv6 zone is local to this host
  return address !== null && isIP(address) ? address : null
}
