import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import type { Hub } from '../live/hub.ts'
import type { Collector } from '../logs/collector.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Definition } from './definition.ts'
import { plansOf, refuseLapsed } from './definition.ts'
import type { ServiceEvent } from './events.ts'
import type { PullProgress } from './progress.ts'
import type { ServiceRun } from './run.ts'
import { moveService } from './store.ts'
import type { Changes, Service, ServiceStatus } from './store.ts'
import { createContainers } from './steps/create.ts'
import { pullImages } from './steps/pull.ts'
import { keepUp, startContainers } from './steps/start.ts'
import { takeDown } from './take-down.ts'

export type ServiceDeps = {
  collector: Collector
  config: Config
  db: Db
  docker: Docker
  secrets: Secrets
  instanceId: string
  serviceEvents: Hub<ServiceEvent>
}

/** States that only a start, a change or a restart moves on. */
export const busyStatuses = ['pulling', 'creating', 'starting'] as const satisfies ServiceStatus[]

/**
 * An instance from its definition to containers that are well: pull, create, start. Containers of an
 * earlier start go once the images are here, so that they serve while those are pulled.
 */
export async function bringUp(deps: ServiceDeps, run: ServiceRun) {
  tell(deps, run.service, 'pulling')
  const images = await pullImages(run)
  run.signal.throwIfAborted()
  tell(deps, run.service, 'creating')
  await takeDown(run)
  const made = await createContainers(run, images)
  tell(deps, run.service, 'starting')
  await startContainers(run, made)
  await keepUp(run, made)
}

/** What the steps of one start are given. */
export function runOf(
  deps: ServiceDeps,
  {
    service,
    definition,
    progress,
    signal,
  }: { service: Service; definition: Definition; progress: PullProgress; signal: AbortSignal },
): ServiceRun {
  const { collector, config, db, docker, secrets, instanceId } = deps
  refuseLapsed(deps, definition)
  const plans = plansOf(deps, definition)
  return {
    collector,
    config,
    db,
    docker,
    secrets,
    instanceId,
    service,
    plans,
    progress,
    signal,
  }
}

/** Stores, then publishes, that an instance is in a state now. */
export function tell(
  { db, serviceEvents }: Pick<ServiceDeps, 'db' | 'serviceEvents'>,
  { id }: Pick<Service, 'id'>,
  status: ServiceStatus,
  changes: Omit<Changes, 'id' | 'status'> = {},
) {
  const from = [...busyStatuses, 'running', 'unhealthy', 'stopped', 'failed'] as const
  if (moveService(db, { id, from, status, ...changes })) serviceEvents.publish(id, { status })
}
