import type { UsageDeps } from '../containers/usage/process-usage.ts'
import { pendingChanges } from '../deployments/settings.ts'
import { getCurrent, getLatest } from '../deployments/store.ts'
import { urlOf } from '../environments/json.ts'
import { hasPort } from '../environments/processes.ts'
import { getLiveUrl, isLast } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import type { LinkDeps } from '../links/effective.ts'
import { linksOf } from '../links/json.ts'
import { processLabel } from '../logs/log-line.tsx'
import { placesOf } from '../projects/places.ts'
import type { Project } from '../projects/store.ts'
import { openComponents } from '../runtime/component.ts'
import { getLiveRelease } from '../runtime/store.ts'
import { stepOf } from './app-jobs.ts'
import { environmentJson } from './json.ts'
import { liveOf } from './live.ts'
import type { Live, LiveDeps } from './live.ts'

export type ShownDeps = LiveDeps & LinkDeps & Pick<UsageDeps, 'usage'>

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
    links: await linksOf(deps, environment.id),
    pending: await pendingChanges(deps, { project, environment }),
  })

export type EnvironmentView = Awaited<ReturnType<typeof viewOf>>

/** An environment with what its page shows. */
export async function viewOf(deps: ShownDeps, environment: Environment, project: Project) {
  const { db, config } = deps
  const current = getCurrent(db, environment.id)
  const live = liveOf(deps, environment)
  return {
    project,
    environment,
    /** A project keeps at least one. */
    isLast: isLast(db, environment),
    url: urlNow(deps, environment, project),
    live,
    links: await linksOf(deps, environment.id),
    instances: live ? shownInstances(deps, environment, live) : [],
    pending: await pendingChanges(deps, { project, environment }),
    /** The deployment that serves, or did until it was stopped. */
    current,
    latest: getLatest(db, environment.id),
    /** What is being done to all of it. */
    step: stepOf(db, environment.id),
    /** What was stopped on purpose did not fail. */
    wasStopped: current?.status === 'stopped' && current.errorCode === null,
    /** Its page is its owner's alone. */
    hasTerminal: config.terminal !== 'off',
  }
}

export type ShownInstance = ReturnType<typeof shownInstances>[number]

/** Each with its limits, and a name of its own: `worker`, or `worker 2` where there are several. */
function shownInstances(
  { db, secrets, conditions, usage }: ShownDeps,
  { id }: Environment,
  { instances }: Live,
) {
  const components = openComponents(secrets, getLiveRelease(db, id)) ?? []
  const of = Map.groupBy(instances, ({ process }) => process)
  return instances.map((instance) => {
    const { process, containerId } = instance
    const same = of.get(process)!
    const made = components.find(({ name }) => name === process)?.options
    return {
      ...instance,
      name: processLabel({
        process,
        replica: same.length > 1 ? same.indexOf(instance) + 1 : null,
      }),
      usage: containerId ? (usage.latest(containerId)?.usage ?? null) : null,
      limits: made && { memoryMb: Math.round(made.memoryBytes / 2 ** 20), cpus: made.cpus },
      condition: containerId ? conditions.of(containerId) : null,
    }
  })
}
