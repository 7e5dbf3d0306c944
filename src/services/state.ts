import type { Config } from '../config.ts'
import { endJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import type { Hub } from '../live/hub.ts'
import type { RuntimeDeps, Workload } from '../runtime/workload.ts'
import type { ServiceEvent } from './events.ts'
import { moveService, serviceStatuses } from './store.ts'
import type { Changes, Service, ServiceStatus } from './store.ts'

/** What starts, changes and observes services. */
export type ServiceDeps = RuntimeDeps & { config: Config; serviceEvents: Hub<ServiceEvent> }

/** States that only a job moves on. */
export const busyStatuses = ['pulling', 'creating', 'starting'] as const satisfies ServiceStatus[]

export const isBusy = (status: ServiceStatus) =>
  (busyStatuses as readonly ServiceStatus[]).includes(status)

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
type Facts = Omit<Changes, 'id' | 'status'>

/** Stores, then publishes, that an instance is in a state now. */
export function tell(
  { db, serviceEvents }: Told,
  { id }: Pick<Service, 'id'>,
  status: ServiceStatus,
  changes: Facts = {},
) {
  if (moveService(db, { id, from: serviceStatuses, status, ...changes }))
    serviceEvents.publish(id, { status })
}

/** The same at the end of a job, which ends in the same transaction; `store` has what else belongs to it. */
export function settle(
  deps: Told,
  { job, store = () => {} }: { job: Job; store?: (() => void) | undefined },
  status: ServiceStatus,
  changes: Facts,
) {
  const { db, serviceEvents } = deps
  const id = job.subjectId
  db.transaction(() => {
    store()
    moveService(db, { id, from: serviceStatuses, status, ...changes })
    endJob(db, job.id)
  })
  serviceEvents.publish(id, { status })
}
