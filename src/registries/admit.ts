import type { Config } from '../config.ts'
import { Failure } from '../platform/errors.ts'
import { resolveHost } from '../platform/hosts.ts'
import type { Lookup } from '../platform/hosts.ts'
import { dockerHub } from './image-registry.ts'

/**
 * Throws `host_refused` where a registry has a private address that DAVIT_ALLOW_HOSTS does not admit.
 * It is the engine that connects, after a look-up of its own: a name server that answers it otherwise,
 * and where the registry sends it on to, are beyond this, as is what an image's build fetches by itself.
 */
export async function refusePrivate(
  { config, lookup }: { config: Pick<Config, 'allowHosts'>; lookup?: Lookup },
  { registry, signal }: { registry: string; signal: AbortSignal },
) {
  if (registry === dockerHub) return
  const host = registry.replace(/:\d+$/, '')
  try {
    await resolveHost(host, { allow: config.allowHosts, signal, ...(lookup && { lookup }) })
  } catch (error) {
    // the engine may know names that this machine does not, or pull through a proxy
    if (!(error instanceof Failure && error.code === 'host_unresolved')) throw error
  }
}
