import type { Edge } from '../edge/edge.ts'
import type { Project } from '../projects/store.ts'
import { hasPort, web } from './processes.ts'
import type { Environment } from './store.ts'

type App = {
  project: Pick<Project, 'composeFile'>
  environment: Pick<Environment, 'port' | 'portSet' | 'processes' | 'volumes'>
  edge: Pick<Edge, 'mode'>
}

/**
 * Explains why a new version can't get a share of the requests beside the one before; null when it can, by its
 * settings.
 */
export function whyNoShare({ project, environment, edge }: App) {
  const { portSet, processes, volumes } = environment
  if (edge.mode !== 'caddy')
    return 'needs the edge that Davit runs itself (DAVIT_EDGE=caddy), which sends requests to both versions.'
  if (project.composeFile !== null) return 'isn’t possible for an app of a Compose file.'
  if (!hasPort(environment)) return 'needs an app with a port.'
  if (portSet) return 'isn’t possible with a host port of its own, which only one version can have.'
  if (volumes.length > 0) return 'isn’t possible with volumes, which only one version can write to.'
  const other = processes.find(({ name }) => name !== web)
  return other
    ? `isn’t possible with the process ${other.name}: two versions of it would work side by side.`
    : null
}
