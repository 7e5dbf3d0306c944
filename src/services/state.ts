import type { Config } from '../config.ts'
import { endJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import type { Hub } from '../live/hub.ts'
import type { RuntimeDeps, Workload } from '../runtime/workload.ts'
import { moveService } from './store.ts'
import type { Changes, Service, ServiceStatus } from './store.ts'

/** What the hub carries for an instance: its new state, that its pull has come further, or its end. */
export type ServiceEvent = { status: ServiceStatus } | { pulled: true } | { deleted: true }

/** What starts, changes and observes services. */
export type ServiceDeps = RuntimeDeps & { config: Config; serviceEvents: Hub<ServiceEvent> }

/** States that only a job moves on. */
export const isBusy = (status: ServiceStatus) =>
  ['pulling', 'creating', 'starting'].includes(status)

/** States that say what the containers do, and so change with them. */
export const settledStatuses = ['running', 'unhealthy', 'stopped'] satisfies ServiceStatus[]

export const workloadOf = ({ id, ownerId }: Pick<Service, 'id' | 'ownerId'>): Workload => ({
  id,
  kind: 'service',
  ownerId,
})

/** For the row of one that is well. */
export const noError = {
  errorStep: null,
  errorCode: null,
  errorMessage: null,
  errorHint: null,
} as const

type Told = Pick<ServiceDeps, 'db' | 'serviceEvents'>

/** Stores, then publishes, that an instance is in a state now. */
export function tell(
  { db, serviceEvents }: Told,
  { id }: Pick<Service, 'id'>,
  status: ServiceStatus,
) {
  if (moveService(db, { id, status })) serviceEvents.publish(id, { status })
}

/** The same at the end of a job, which ends in the same transaction; `store` has what else belongs to it. */
export function settle(
  { db, serviceEvents }: Told,
  { job, store = () => {} }: { job: Job; store?: (() => void) | undefined },
  status: ServiceStatus,
  changes: Omit<Changes, 'id' | 'status'>,
) {
  const id = job.subjectId
  db.transaction(() => {
    store()
    moveService(db, { id, status, ...changes })
    endJob(db, job.id)
  })
  serviceEvents.publish(id, { status })
}
