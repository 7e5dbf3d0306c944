import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import { nearAddress } from '../platform/hosts.ts'
import { onDemand } from '../platform/on-demand.ts'
import type { AdminAddress } from './admin.ts'
import { ownCaddy } from './own.ts'
import type { Engine } from './own.ts'
import type { Caddy } from './plan.ts'

type Settings = Pick<Config, 'edge' | 'edgeAdmin' | 'edgePorts' | 'host' | 'port'>

/**
 * Chooses the Caddy by the settings; null when apps are reached by their own ports. A Caddy that ran here
 * before serves its ports until Docker publishes them again.
 */
export function caddyOf(
  { edge, edgeAdmin, edgePorts: ports, host, port }: Settings,
  { folder, engine }: { folder: string; engine: Engine },
): Caddy | null {
  if (edge === 'direct' && !existsSync(folder)) return null
  if (edge !== 'external') return ownCaddy({ folder, ports, engine })
  const reached = nearAddress(host)
  const davit = `${reached.includes(':') ? `[${reached}]` : reached}:${port}`
  const given = { folder, ports, admin: adminOf(edgeAdmin!), davit, engine }
  const foreign = onDemand(async () => (await import('./foreign.ts')).foreignCaddy(given))
  return {
    ...{ mode: 'external', folder, ports, davit, version: null },
    doubt() {},
    start: async (...args) => (await foreign()).start(...args),
    serve: async (...args) => (await foreign()).serve(...args),
    stop: async (...args) => (await foreign()).stop(...args),
  }
}

/** Parses DAVIT_EDGE_ADMIN. */
export const adminOf = (text: string): AdminAddress =>
  /^https?:/.test(text) ? { url: text } : { socket: text.replace(/^unix:\/\//, '') }
