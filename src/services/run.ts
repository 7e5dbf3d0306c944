import type { ServiceDeps } from './bring-up.ts'
import type { ContainerPlan } from './compose/containers.ts'
import type { PullProgress } from './progress.ts'
import type { Service } from './store.ts'

/** What a step of a start may use. It sees neither the database's rows of others nor HTTP. */
export type ServiceRun = Omit<ServiceDeps, 'serviceEvents'> & {
  service: Service
  plans: ContainerPlan[]
  progress: PullProgress
  signal: AbortSignal
}

/** A container that was made for one of the plans. */
export type Made = { plan: ContainerPlan; id: string }
