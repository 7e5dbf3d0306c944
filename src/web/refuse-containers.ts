import { networkInterfaces } from 'node:os'
import type { Config } from '../config.ts'
import type { Docker } from '../docker/index.ts'
import { AppError } from '../platform/errors.ts'
import { inCidrs, isLoopback } from '../platform/hosts.ts'
import { factory } from './factory.ts'
import { within } from '../platform/pause.ts'

/** Milliseconds between two engine calls, and for which a request waits for the first response. */
const askEvery = 30_000
const timeoutMs = 1000

/**
 * Responds 403 to requests from containers of an app, a service or a build. Covers the network pool and the
 * default bridge, where builds run, also behind the edge and other proxies. A trusted proxy may be a
 * container.
 */
export function refuseContainers({ config, docker }: { config: Config; docker: Docker }) {
  const bridge = defaultBridge(docker)

  return factory.createMiddleware(async function checkPeer(c, next) {
    const { peer, address } = c.var
    // for any proxy of this machine, such as the user's own Caddy: it needn't be trusted to refuse
    const behind = isLoopback(peer) ? c.req.header('X-Forwarded-For')?.split(',').at(-1) : undefined
    for (const one of new Set([peer, address, behind?.trim() ?? peer]))
      if (await isContainer(one))
        throw new AppError(
          'forbidden',
          'Davit refuses requests from containers, except from those in DAVIT_TRUSTED_PROXIES.',
        )
    await next()
  })

  async function isContainer(peer: string) {
    if (inCidrs(peer, ['127.0.0.0/8', '::1', ...config.trustedProxies])) return false
    if (!inCidrs(peer, [config.networkPool, ...(await bridge())])) return false
    return !isOwn(peer) // the gateway of a bridge is this machine
  }
}

const isOwn = (peer: string) =>
  Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === peer))

/** The subnets of the engine's default bridge, as last reported; none before. */
function defaultBridge(docker: Pick<Docker, 'listNetworks'>) {
  let subnets: string[] = []
  let askedAt = -Infinity
  let asking = Promise.resolve()

  return async function subnetsOfBridge() {
    if (performance.now() - askedAt > askEvery) asking = ask()
    if (subnets.length === 0) await within(timeoutMs, asking)
    return subnets
  }

  async function ask() {
    askedAt = performance.now()
    const signal = AbortSignal.timeout(askEvery)
    const networks = await docker.listNetworks({ signal }).catch(() => null)
    if (networks)
      subnets = networks.filter(({ name }) => name === 'bridge').flatMap((n) => n.subnets)
  }
}
