import { endJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import type { ChangeFeed } from '../live/change-feed.ts'
import type { Workload } from '../runtime/workload.ts'
import type { MoveDeps } from '../runtime/moves.ts'
import { moveService } from './store.ts'
import type { Changes, Service, ServiceStatus } from './store.ts'

export type ServiceDeps = MoveDeps & { changes: ChangeFeed }

export const serviceJobs = ['start', 'change', 'restart', 'stop', 'move'] as const

/** True for states that only a job ends. */
export const isBusy = (status: ServiceStatus) =>
  ['pulling', 'creating', 'starting'].includes(status)

/** States that follow from the containers, and change with them. */
export const settledStatuses = ['running', 'unhealthy', 'stopped'] satisfies ServiceStatus[]

export const workloadOf = ({
  id,
  ownerId,
  placement,
}: Pick<Service, 'id' | 'ownerId' | 'placement'>): Workload => ({
  id,
  kind: 'service',
  ownerId,
  placement,
})

export const noError = {
  errorStep: null,
  errorCode: null,
  errorMessage: null,
  errorHint: null,
} as const

/** Stores the state and ends the job in one transaction; `store` may add more to it. */
export function settle(
  { db, routing }: Pick<ServiceDeps, 'db' | 'routing'>,
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
  routing.route({ id, kind: 'service' }) // its error page depends on the state
}
