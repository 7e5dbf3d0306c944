import { stopping } from '../jobs/jobs.ts'
import { rememberSecrets } from '../logs/past-secret-store.ts'
import { report } from '../platform/journal.ts'
import { openBefore, sealDefinition } from './before.ts'
import { bringUp, runOf, tell } from './bring-up.ts'
import type { ServiceDeps } from './bring-up.ts'
import { secretsOf } from './definition.ts'
import type { Definition } from './definition.ts'
import { explainStart, noError } from './explain.ts'
import { definitionOf, startService } from './start.ts'
import type { StartOptions } from './start.ts'
import { getService, updateService } from './store.ts'
import type { Changes, Service } from './store.ts'
import { sealValues } from './values.ts'

/**
 * Makes an instance anew from another definition, its volumes kept. Where that does not come up, the
 * one before is brought up again, and the row says that the change was undone, and why. A process that
 * finds the change interrupted calls it with what the row says. Never throws.
 */
export async function changeService(
  deps: ServiceDeps,
  { definition, undo, ...options }: StartOptions & { definition: Definition; undo: AbortSignal },
) {
  const { id, progress, signal } = options
  const service = getService(deps.db, id)
  if (!service) return
  const before = openBefore(deps, service) ?? definitionOf(deps, service)
  try {
    const changed = keep(deps, definition, {
      status: 'pulling',
      before: sealDefinition(deps, before),
    })
    await bringUp(deps, runOf(deps, { service: changed, definition, progress, signal }))
    tell(deps, service, 'running', { ...noError, before: null })
  } catch (error) {
    if (signal.aborted && signal.reason === stopping) return // the next process goes on with it
    const why = await explainStart(deps, { id, error, signal })
    if (why.errorCode === 'internal') report('a service was not changed', error, { service: id })
    keep(deps, before, { before: null })
    if (getService(deps.db, id)?.deletingAt) return // it was cancelled to be removed
    await startService(deps, { ...options, signal: signal.aborted ? undo : signal })
    const again = getService(deps.db, id)
    if (again?.status !== 'running') return
    const errorMessage = `The change was undone. ${why.errorMessage}`
    tell(deps, service, 'running', { ...why, errorMessage })
  }
}

/** What the row says from now on: a process that takes it up again goes on with this. */
function keep(deps: ServiceDeps, definition: Definition, changes: Changes): Service {
  const { id, name, version, compose, allowed, allowedBy, ports } = definition
  const sealed = sealValues(deps, definition)
  const now = new Set(secretsOf(definition))
  const before = secretsOf(definitionOf(deps, getService(deps.db, id)!))
  const ended = before.filter((value) => !now.has(value))
  if (ended.length > 0) rememberSecrets(deps, { serviceId: id }, ended)
  const made = { name, version, compose, allowed, allowedBy, ...sealed }
  return updateService(deps.db, id, { ...changes, ...made }, ports)
}
