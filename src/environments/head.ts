import type { Engines } from '../docker/index.ts'
import { hasShare } from '../db/watch-schema.ts'
import { listJobsOf } from '../jobs/store.ts'
import type { Project } from '../projects/store.ts'
import { isStopCode } from '../runtime/crash-count.ts'
import { listLiveInstances } from '../runtime/store.ts'
import { listAwaited } from '../servers/awaited-store.ts'
import { lookOfStatus, notDeployed } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { stepOfJob } from './app-steps.ts'
import type { AppStep } from './app-steps.ts'
import { reachedAt } from './json.ts'
import { getNextFreeze } from './freeze-store.ts'
import { whyNoShare } from './share.ts'
import { getPlanned } from './planned-store.ts'
import { getPreview } from './preview-store.ts'
import { getCurrent, getDeployment } from './store.ts'
import type { Environment } from './store.ts'

export type Verb = 'start' | 'restart' | 'stop'

export type HeadDeps = Parameters<typeof reachedAt>[0] &
  Parameters<typeof whyNoShare>[0] & { engines: Pick<Engines, 'isAway'> }
export type EnvironmentHead = ReturnType<typeof headOf>

/** The state for the header of all pages of an environment, in a fixed number of queries. */
export function headOf(
  deps: HeadDeps,
  { environment, project }: { environment: Environment; project: Project },
) {
  const { db } = deps
  const work = listJobsOf(db, environment.id)
  const step = work.map(stepOfJob).find((one) => one !== null) ?? null
  const deploying = work.find(({ kind }) => kind === 'deploy')
  const current = getCurrent(db, environment.id)
  const shared = current && hasShare(current) ? current : null
  const instances = listLiveInstances(db, environment.id)
  const isDeleting = environment.deletingAt !== null || project.deletingAt !== null
  return {
    environment,
    project,
    isDeleting,
    state: step ?? (current && stateOf(deps, current, instances)),
    deployment: deploying ? getDeployment(db, deploying.id) : null,
    planned: getPlanned(db, environment.id),
    freeze: getNextFreeze(db, environment.id),
    preview: getPreview(db, environment.id),
    awaited: listAwaited(db, environment.id),
    /** The live version, if it has a share of the requests. */
    shared,
    /** True when a new version can have one. */
    isShareable: !shared && whyNoShare(deps, { project, environment }) === null,
    /** Null while nothing runs. */
    url:
      current?.status === 'running'
        ? reachedAt(deps, { environment, ownerId: project.ownerId, published: current.url })
        : null,
    verbs: isDeleting || deploying || !current ? [] : verbsFor({ step, instances }),
  }
}

/** For the browser's tab: current work takes precedence over the state of the live version. */
export const lookOf = ({
  state,
  deployment,
}: Pick<EnvironmentHead, 'state' | 'deployment'>): Look => {
  const status = deployment?.status ?? state
  return status ? lookOfStatus(status) : notDeployed
}

type Current = NonNullable<ReturnType<typeof getCurrent>>
type Instances = ReturnType<typeof listLiveInstances>

function stateOf(
  { engines }: Pick<HeadDeps, 'engines'>,
  { status, errorCode }: Current,
  instances: Instances,
): Current['status'] | 'unhealthy' | 'unknown' {
  if (status !== 'running') return status
  const wanted = instances.filter(({ state }) => state !== 'stopped')
  const there = wanted.filter((one) => !engines.isAway(one))
  if (wanted.length > 0 && there.length === 0) return 'unknown'
  const isWell = there.length === wanted.length && there.every(({ state }) => state === 'live')
  return isWell && !isStopCode(errorCode) ? status : 'unhealthy'
}

function verbsFor({ step, instances }: { step: AppStep | null; instances: Instances }): Verb[] {
  if (step !== null) return step === 'stopping' ? [] : ['stop']
  const running = instances.filter(({ state }) => state !== 'stopped').length
  if (running === 0) return ['start']
  return running < instances.length ? ['start', 'restart', 'stop'] : ['restart', 'stop']
}
