import { resync } from '../docker/index.ts'
import type { Container, EngineEvent, EngineFeed } from '../docker/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { AppError } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { readLabels } from '../docker/labels.ts'
import { mayEnd, partLabel } from './compose/containers.ts'
import { tell } from './bring-up.ts'
import type { ServiceDeps } from './bring-up.ts'
import { plansOf, readAhead } from './definition.ts'
import { definitionOf } from './start.ts'
import { getService, listInStatus } from './store.ts'
import type { Service, ServiceStatus } from './store.ts'
import { listOwnContainers } from './take-down.ts'

type WatchDeps = ServiceDeps & { feed: EngineFeed; jobs: Jobs }

/** States that say what the containers do, and so change with them. */
const settled = ['running', 'unhealthy', 'stopped'] as const satisfies ServiceStatus[]

/** Keeps the states of instances true, whoever stops, kills or starts their containers. */
export async function watchServices(deps: WatchDeps, { signal }: { signal: AbortSignal }) {
  for await (const event of deps.feed.listen(signal)) {
    const ids =
      event === resync ? listInStatus(deps.db, settled).map(({ id }) => id) : idsIn(deps, event)
    for (const id of ids)
      await observe(deps, id).catch((error) => {
        if (!signal.aborted) report('a service was not looked at', error, { service: id })
      })
  }
}

/** Of the instance whose container the event is about, where it may change that one's state. */
function idsIn(deps: WatchDeps, { action, attributes }: EngineEvent) {
  const { instanceId, serviceId } = readLabels(attributes)
  const isTelling = /^(start|die|destroy|health_status)/.test(action)
  return instanceId === deps.instanceId && isTelling ? [serviceId] : []
}

/** Makes the state of an instance say what its containers do; left to the job that is at work there. */
export async function observe(deps: WatchDeps, id: string) {
  const service = getService(deps.db, id)
  if (!service || !isSettled(service.status) || deps.jobs.isRunning(id)) return
  const ending = await endingParts(deps, service)
  const lasting = (await lookAt({ ...deps, service })).filter(
    ({ labels, state, exitCode }) =>
      !(ending.has(labels[partLabel] ?? '') && state === 'exited' && exitCode === 0),
  )
  const status = stateOf(lasting, service.status)
  const now = getService(deps.db, id)
  if (!now || now.status === status || !isSettled(now.status) || deps.jobs.isRunning(id)) return
  tell(deps, service, status)
}

/** Those that may end by themselves; none where the file can't be started as it is any more. */
async function endingParts(deps: WatchDeps, service: Service) {
  try {
    const definition = definitionOf(deps, service)
    await readAhead(definition)
    const plans = plansOf(deps, definition)
    return new Set(plans.filter(mayEnd).map((plan) => plan.service))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return new Set<string>()
  }
}

/** One by one: when a container has just ended, the engine's list still says that it runs. */
async function lookAt(of: Pick<WatchDeps, 'docker' | 'instanceId'> & { service: { id: string } }) {
  const found = await listOwnContainers(of)
  const containers = await Promise.all(found.map(({ id }) => of.docker.inspectContainer(id)))
  return containers.filter((container) => container !== null)
}

const isSettled = (status: ServiceStatus) => (settled as readonly string[]).includes(status)

/** All well, some not, or none running. A health check that has yet to pass changes nothing. */
function stateOf(containers: Container[], now: ServiceStatus): ServiceStatus {
  if (containers.every(({ state }) => ['exited', 'created', 'dead'].includes(state)))
    return 'stopped'
  const isWell = ({ state, health }: Container) =>
    state === 'running' && (health === 'starting' ? now === 'running' : health !== 'unhealthy')
  return containers.every(isWell) ? 'running' : 'unhealthy'
}
