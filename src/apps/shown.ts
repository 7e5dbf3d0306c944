import { listHosts } from '../addresses/store.ts'
import type { UsageDeps } from '../containers/usage/process-usage.ts'
import { addressesOf } from '../domains/page-view.ts'
import type { AddressDeps } from '../domains/page-view.ts'
import { listKept } from '../deployments/overview-store.ts'
import { pendingChanges } from '../deployments/settings.ts'
import { getCurrent, getLatest } from '../deployments/store.ts'
import { watchSecondsOf } from '../deployments/watch/store.ts'
import { reachedAt } from '../environments/json.ts'
import { getNextFreeze } from '../environments/freeze-store.ts'
import { getPlanned } from '../environments/planned-store.ts'
import { getPreview, listPreviews } from '../environments/preview-store.ts'
import {
  countVariables,
  findEnvironment,
  getLiveUrl,
  listEnvironments,
} from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import type { LinkDeps } from '../links/effective.ts'
import { linksOf } from '../links/json.ts'
import { processLabel } from '../logs/log-line.tsx'
import type { Project } from '../projects/store.ts'
import { openComponents } from '../runtime/component.ts'
import { pinnedTo, pinOf } from '../runtime/pins.ts'
import { getLiveRelease } from '../runtime/store.ts'
import { listFailing } from '../schedules/store.ts'
import { listAwaited } from '../servers/awaited-store.ts'
import { nameOf } from '../servers/store.ts'
import { environmentJson } from './json.ts'
import { liveOf } from './live.ts'
import type { Live, LiveDeps } from './live.ts'

export type ShownDeps = LiveDeps & LinkDeps & AddressDeps & Pick<UsageDeps, 'usage'>

/** The address of the running app, else its future one. */
export const urlNow = (deps: ShownDeps, environment: Environment, { ownerId }: Project) =>
  reachedAt(deps, { environment, ownerId, published: getLiveUrl(deps.db, environment.id) })

export function rowsOf(deps: ShownDeps, project: Project) {
  const counts = countVariables(deps.db, project.id)
  const previews = listPreviews(deps.db, project.id)
  return listEnvironments(deps.db, project.id).map((environment) => ({
    environment,
    variables: counts.get(environment.id) ?? 0,
    url: urlNow(deps, environment, project),
    preview: previews.find(({ environmentId }) => environmentId === environment.id),
  }))
}

/** What its JSON says of it beside its row. */
export const appOf = async (deps: ShownDeps, environment: Environment, project: Project) => ({
  domains: listHosts(deps.db, { environmentId: environment.id }),
  url: urlNow(deps, environment, project),
  live: liveOf(deps, environment),
  links: await linksOf(deps, environment.id),
  pending: await pendingChanges(deps, { project, environment }),
  planned: getPlanned(deps.db, environment.id),
  freeze: getNextFreeze(deps.db, environment.id),
  preview: getPreview(deps.db, environment.id),
  awaited: listAwaited(deps.db, environment.id),
  kept: listKept(deps.db, [environment.id]).get(environment.id),
  pinnedTo: pinnedTo(deps.db, environment.id),
  watchSeconds: watchSecondsOf(environment, deps.config),
})

export const jsonOf = async (deps: ShownDeps, environment: Environment, project: Project) =>
  environmentJson(environment, await appOf(deps, environment, project))

export type EnvironmentView = Awaited<ReturnType<typeof viewOf>>

export async function viewOf(deps: ShownDeps, environment: Environment, project: Project) {
  const { db, config } = deps
  const current = getCurrent(db, environment.id)
  const app = await appOf(deps, environment, project)
  return {
    ...app,
    project,
    environment,
    addresses: addressesOf(deps, { kind: 'environment', environment, project }),
    instances: app.live ? shownInstances(deps, environment, app.live) : [],
    /** Also while stopped. */
    current,
    latest: getLatest(db, environment.id),
    /** Where its versions come from; null for builds of its own. */
    promotedFrom: environment.promoteFrom
      ? findEnvironment(db, { id: environment.promoteFrom, projectId: project.id })
      : null,
    failing: listFailing(db, environment.id),
    pin: pinOf(db, environment),
    /** An app that was stopped on purpose didn't fail. */
    wasStopped: current?.status === 'stopped' && current.errorCode === null,
    /** Only its owner may see its page. */
    hasTerminal: config.terminal !== 'off',
  }
}

export type ShownInstance = ReturnType<typeof shownInstances>[number]

/** Each with its limits and its own name: `worker`, or `worker 2` of several. */
function shownInstances(
  { db, secrets, observed, usage }: ShownDeps,
  { id }: Environment,
  { instances }: Live,
) {
  const components = openComponents(secrets, getLiveRelease(db, id)) ?? []
  const of = Map.groupBy(instances, ({ process }) => process)
  return instances.map((instance) => {
    const { process, containerId, image } = instance
    const same = of.get(process)!
    const made = components.find(({ name }) => name === process)?.options
    return {
      ...instance,
      name: processLabel({
        process,
        replica: same.length > 1 ? same.indexOf(instance) + 1 : null,
      }),
      server: nameOf(db, instance.serverId),
      usage: containerId ? (usage.latest(containerId)?.usage ?? null) : null,
      /** Those that were built have no name that tells anything. */
      reference: image?.startsWith('davit/') ? null : image,
      limits: made && { memoryMb: Math.round(made.memoryBytes / 2 ** 20), cpus: made.cpus },
      condition: containerId ? observed.condition(containerId) : null,
    }
  })
}
