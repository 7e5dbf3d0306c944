import { stopping } from '../jobs/jobs.ts'
import { report } from '../platform/journal.ts'
import { labelFilter } from '../docker/labels.ts'
import { bringUp, runOf, tell } from './bring-up.ts'
import type { ServiceDeps } from './bring-up.ts'
import { readAhead } from './definition.ts'
import type { Definition } from './definition.ts'
import { explainStart, noError } from './explain.ts'
import type { PullProgress } from './progress.ts'
import { getService, listPorts } from './store.ts'
import type { Service } from './store.ts'
import { removeFromEngine } from '../runtime/remove.ts'
import { openValues } from './values.ts'

export type StartOptions = { id: string; progress: PullProgress; signal: AbortSignal }

/**
 * Starts an instance anew from what its row says. A start that fails leaves nothing of it behind but
 * the volumes that were there before, and the reason in the row. Never throws.
 */
export async function startService(deps: ServiceDeps, { id, progress, signal }: StartOptions) {
  const service = getService(deps.db, id)
  if (!service) return
  const undo = { ...deps, service }
  let before: string[] | null = null
  try {
    before = await volumesOf(undo)
    signal.throwIfAborted()
    const definition = definitionOf(deps, service)
    await readAhead(definition)
    const run = runOf(deps, { service, definition, progress, signal })
    await bringUp(deps, run)
    tell(deps, service, 'running', noError)
  } catch (error) {
    if (signal.aborted && signal.reason === stopping) return // the next process takes it up again
    await removeFromEngine(deps, { kind: 'service', serviceId: id, volumes: false })
      .then(() => before && removeNewVolumes(undo, before))
      .catch((fault) => report('a failed start left something behind', fault, { service: id }))
    const why = await explainStart(deps, { id, error, signal })
    if (why.errorCode === 'internal') report('a service did not start', error, { service: id })
    tell(deps, service, 'failed', why)
  }
}

/** What the row says, with its values opened. */
export const definitionOf = (deps: ServiceDeps, service: Service): Definition => ({
  ...service,
  values: openValues(deps, service),
  ports: listPorts(deps.db, service.id),
})

type Undo = ServiceDeps & { service: Service }

const volumesOf = async ({ docker, instanceId, service }: Undo) =>
  (await docker.listVolumes({ labels: labelFilter(instanceId, { serviceId: service.id }) })).map(
    ({ name }) => name,
  )

async function removeNewVolumes(undo: Undo, before: string[]) {
  for (const name of await volumesOf(undo))
    if (!before.includes(name)) await undo.docker.removeVolume(name)
}
