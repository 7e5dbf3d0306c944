import type { Config } from '../config.ts'
import type { Environment } from './store.ts'
import type { Variable } from './variable-store.ts'

type Places = Pick<Config, 'publishAddress' | 'url'>

/** Where the app of an environment is reached; null for a worker without a port. */
export const urlOf = (environment: Pick<Environment, 'port' | 'hostPort'>, places: Places) =>
  environment.port === 0 ? null : urlOn(environment.hostPort, places)

/** Where a published port of this host is reached. */
export function urlOn(hostPort: number, { publishAddress, url }: Places) {
  const everywhere = publishAddress === '0.0.0.0' || publishAddress === '::'
  const host = everywhere ? (url?.hostname ?? 'localhost') : publishAddress
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${hostPort}`
}

export const environmentJson = (environment: Environment, config: Config) => ({
  id: environment.id,
  projectId: environment.projectId,
  name: environment.name,
  branch: environment.branch,
  port: environment.port,
  hostPort: environment.port === 0 ? null : environment.hostPort,
  domains: environment.domains,
  url: urlOf(environment, config),
  healthPath: environment.healthPath,
  healthTimeout: environment.healthTimeout,
  memoryMb: environment.memoryMb,
  cpus: environment.cpus,
  autoDeploy: environment.autoDeploy,
  volumes: environment.volumes,
  deleting: environment.deletingAt !== null,
  createdAt: environment.createdAt,
})

export const variableJson = ({ id, key, value, secret, buildTime }: Variable) => ({
  id,
  key,
  value,
  secret,
  buildTime,
})
