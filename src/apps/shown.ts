import { listEnvironmentStates } from '../deployments/overview-store.ts'
import { pendingChanges } from '../deployments/settings.ts'
import { urlOf } from '../environments/json.ts'
import { hasPort } from '../environments/processes.ts'
import { getLiveUrl } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import type { LinkDeps } from '../links/effective.ts'
import { placesOf } from '../projects/places.ts'
import type { Project } from '../projects/store.ts'
import { stepOf } from './app-jobs.ts'
import { environmentJson } from './json.ts'
import { liveOf } from './live.ts'
import type { LiveDeps } from './live.ts'

export type ShownDeps = LiveDeps & LinkDeps

/** Where what runs is published, else where it will be. */
export function urlNow(deps: ShownDeps, environment: Environment, project: Project) {
  if (!hasPort(environment)) return null
  return getLiveUrl(deps.db, environment.id) ?? urlOf(environment, placesOf(deps, project.ownerId))
}

/** An environment as programs see it. */
export const jsonOf = async (deps: ShownDeps, environment: Environment, project: Project) =>
  environmentJson(environment, {
    url: urlNow(deps, environment, project),
    live: liveOf(deps, environment),
    pending: await pendingChanges(deps, { project, environment }),
  })

export type EnvironmentView = Awaited<ReturnType<typeof viewOf>>

/** An environment with what its page shows. */
export async function viewOf(deps: ShownDeps, environment: Environment, project: Project) {
  const states = listEnvironmentStates(deps.db, [project.id])
  const { current, latest } = states.find((state) => state.environment.id === environment.id)!
  return {
    project,
    environment,
    url: urlNow(deps, environment, project),
    live: liveOf(deps, environment),
    pending: await pendingChanges(deps, { project, environment }),
    /** The deployment that serves, or did until it was stopped. */
    current,
    latest,
    /** What is being done to all of it. */
    step: stepOf(deps.db, environment.id),
  }
}
