import { existsSync } from 'node:fs'
import type { Config } from '../config.ts'
import type { AdminAddress } from './admin.ts'
import type { Failure } from '../platform/errors.ts'
import { foreignCaddy } from './foreign.ts'
import { ownCaddy } from './own.ts'
import type { Engine } from './own.ts'
import type { Plan } from './plan.ts'

/** A part of a plan that Caddy rejects, while it serves all others. */
export type RejectedHost = { host: string; failure: Failure } | { port: number; failure: Failure }

/** A Caddy that can serve a plan: Davit's own, or the user's. */
export type Caddy = {
  mode: 'caddy' | 'external'
  /** The folder that it shares with Davit, as it sees it. */
  folder: string
  ports: Plan['ports']
  /** Davit's own address for Caddy, in the format of a slot. */
  davit: string
  /** Null when unknown. */
  version: string | null
  /** Throws the reason if it can't run here. */
  start(plan: Plan, options: { signal: AbortSignal }): Promise<void>
  /** Call it when its state may have changed: the next `start` checks it again. */
  doubt(): void
  /** Applies a plan. Changes that wait until no one is connected are served even before that. */
  serve(
    plan: Plan,
    options: { signal: AbortSignal },
  ): Promise<{ state: 'in force' | 'waits'; loadedAt: Date | null; leftOut: RejectedHost[] }>
  /** Stops serving anything for Davit. */
  stop(options: { signal: AbortSignal }): Promise<void>
}

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
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const davit = `${reached.includes(':') ? `[${reached}]` : reached}:${port}`
  const admin = adminOf(edgeAdmin!)
  return foreignCaddy({ folder, ports, admin, davit, engine })
}

/** Parses DAVIT_EDGE_ADMIN. */
export const adminOf = (text: string): AdminAddress =>
  /^https?:/.test(text) ? { url: text } : { socket: text.replace(/^unix:\/\//, '') }
