import type { Config } from '../config.ts'
import { Failure } from '../platform/errors.ts'
import { resolveHost } from '../platform/hosts.ts'
import type { Lookup } from '../platform/hosts.ts'
import { dockerHub } from './image-registry.ts'

/**
 * Throws `host_refused` when a registry has a private address that DAVIT_ALLOW_HOSTS doesn't allow. The
 * engine resolves the name again and connects: different DNS responses, redirects by the registry, and
 * downloads within a build aren't covered.
 */
export async function refusePrivate(
  { config, lookup }: { config: Pick<Config, 'allowHosts'>; lookup?: Lookup },
  { registry, signal }: { registry: string; signal: AbortSignal },
) {
  if (registry === dockerHub) return
  const host = registry.replace(/:\d+$/, '')
  try {
    await resolveHost(host, { allow: config.allowHosts, signal, lookup })
  } catch (error) {
    // The engine may resolve names that this machine can't, or pull through a proxy.
    if (!(error instanceof Failure && error.code === 'host_unresolved')) throw error
  }
}
