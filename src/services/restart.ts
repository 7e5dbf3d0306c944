import { atItsPace } from '../docker/index.ts'
import { stopping } from '../jobs/jobs.ts'
import { report } from '../platform/journal.ts'
import { partLabel } from './compose/containers.ts'
import { runOf, tell } from './bring-up.ts'
import type { ServiceDeps } from './bring-up.ts'
import { readAhead } from './definition.ts'
import { explainStart, noError } from './explain.ts'
import type { Made, ServiceRun } from './run.ts'
import { definitionOf, startService } from './start.ts'
import type { StartOptions } from './start.ts'
import { startContainers } from './steps/start.ts'
import { getService } from './store.ts'
import { listOwnContainers } from './take-down.ts'

/**
 * Stops the containers of an instance and starts them again in order. All are created again where one
 * is missing, or is published elsewhere than it should be by now. Never throws. Data and containers stay
 * when it fails, so that what is wrong can be looked at.
 */
export async function restartService(deps: ServiceDeps, options: StartOptions) {
  const { id, progress, signal } = options
  const service = getService(deps.db, id)
  if (!service) return
  try {
    const definition = definitionOf(deps, service)
    await readAhead(definition)
    const run = runOf(deps, { service, definition, progress, signal })
    const found = await listOwnContainers({ ...deps, service })
    const made = run.plans.flatMap((plan) => {
      const container = found.find(({ labels }) => labels[partLabel] === plan.service)
      return container ? [{ plan, id: container.id }] : []
    })
    const isOld = made.length < run.plans.length || (await isElsewhere(run, made))
    if (isOld) return await startService(deps, options)
    tell(deps, service, 'starting')
    for (const { id } of made.toReversed()) await deps.docker.stopContainer(id, atItsPace)
    await startContainers(run, made)
    tell(deps, service, 'running', noError)
  } catch (error) {
    if (signal.aborted && signal.reason === stopping) return
    const why = await explainStart(deps, { id, error, signal })
    if (why.errorCode === 'internal') report('a service did not restart', error, { service: id })
    tell(deps, service, 'unhealthy', why)
  }
}

/** Whether they have ports on other addresses than now: the setting, or who owns them, has changed. */
async function isElsewhere({ docker, signal }: ServiceRun, made: Made[]) {
  for (const { id, plan } of made) {
    const addresses = plan.options.ports?.map(({ address }) => address)
    const container = await docker.inspectContainer(id, { signal })
    if (container?.hostAddresses.some((address) => !addresses?.includes(address))) return true
  }
  return false
}

/** Stops the containers of an instance, those that depend on others first; they stay for a restart. */
export async function stopService(deps: ServiceDeps, { id }: { id: string }) {
  const service = getService(deps.db, id)
  if (!service) return
  for (const container of await listOwnContainers({ ...deps, service }))
    if (container.state !== 'exited') await deps.docker.stopContainer(container.id, atItsPace)
  tell(deps, service, 'stopped', noError)
}
