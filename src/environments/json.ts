import { appsAddress } from '../config.ts'
import type { Places } from '../projects/places.ts'
import { hasPort } from './processes.ts'
import type { Environment } from './store.ts'
import type { Variable } from './variable-store.ts'

/** Where the app of an environment is reached; null for a worker without a port. */
export const urlOf = (
  environment: Pick<Environment, 'port' | 'processes' | 'hostPort'>,
  places: Omit<Places, 'note'>,
) => (hasPort(environment) ? urlOn(environment.hostPort, places) : null)

/** Addresses that stand for all of this host, with one that leads there from this machine. */
const everywhere: Record<string, string> = { '0.0.0.0': appsAddress, '::': 'localhost' }

/** Where a published port of this host is reached. */
export function urlOn(hostPort: number, { publishAddress, url }: Omit<Places, 'note'>) {
  const host = everywhere[publishAddress]
    ? (url?.hostname ?? everywhere[publishAddress])
    : publishAddress
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${hostPort}`
}

export const variableJson = ({ environmentId, createdAt, ...variable }: Variable) => variable
