import type { Deps } from '../deps.ts'
import type { ContainerPlan } from './compose/containers.ts'
import type { PullProgress } from './progress.ts'
import type { Service } from './store.ts'

/** What a step of a start may use. It sees neither the database's rows of others nor HTTP. */
export type ServiceRun = Pick<
  Deps,
  'collector' | 'config' | 'db' | 'docker' | 'secrets' | 'instanceId'
> & {
  service: Service
  plans: ContainerPlan[]
  progress: PullProgress
  signal: AbortSignal
}

/** A container that was made for one of the plans. */
export type Made = { plan: ContainerPlan; id: string }
