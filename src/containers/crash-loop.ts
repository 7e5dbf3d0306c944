import type { Db } from '../db/index.ts'
import type { Docker, EngineFeed } from '../docker/index.ts'
import { web } from '../environments/processes.ts'
import { report } from '../platform/journal.ts'
import { readLabels } from '../docker/labels.ts'
import { stopContainer } from '../runtime/act.ts'
import type { Conditions } from '../runtime/conditions.ts'
import type { CrashCount } from '../runtime/crash-count.ts'
import { findPlace } from './find.ts'
import { clearStopReason, setStopReason } from './store.ts'
import type { StopReason } from './store.ts'

/** Restarts in a row after which an app is left stopped. */
const maxRestarts = 10

type LoopDeps = {
  db: Db
  docker: Docker
  feed: EngineFeed
  instanceId: string
  conditions: Conditions
}

/**
 * Keeps the conditions of all containers, and stops an app of Davit's that does nothing but crash.
 * Whoever starts it again takes the reason away.
 */
export const watchConditions = (deps: LoopDeps, { signal }: { signal: AbortSignal }) =>
  deps.conditions.run(deps, {
    signal,
    onEvent({ id, action, attributes }) {
      const restarts = deps.conditions.crashes.restartsOf(id)
      if (action !== 'start' || readLabels(attributes).instanceId !== deps.instanceId) return
      if (restarts === 0) clearStopReason(deps.db, id)
      if (restarts < maxRestarts) return
      stopLoop(deps, id).catch((error) => report('a crash loop was not stopped', error, { id }))
    },
  })

/** Stores why before it stops it: the reason is there when the state is. */
async function stopLoop(deps: LoopDeps, id: string) {
  const place = await findPlace(deps, id)
  if (place?.kind !== 'own' || !place.deployment) return
  const name = place.process?.name === web ? 'the app' : `the process ${place.process?.name}`
  const why = reasonOf(deps.conditions.crashes, { id, name })
  setStopReason(deps.db, id, why)
  await stopContainer(deps.docker, { id, name })
}

function reasonOf(crashes: CrashCount, { id, name }: { id: string; name: string }): StopReason {
  const end = crashes.lastEndOf(id)
  const last = end?.oom
    ? 'the last time it had used up its memory'
    : `the last exit code was ${end?.exitCode ?? 'not seen'}`
  return {
    message: `${name.replace('the', 'The')} ended ${crashes.restartsOf(id)} times in a row soon after its start; ${last}. Davit stopped it.`,
    hint: end?.oom
      ? 'Give it more memory and deploy again, or restart it to see it fail.'
      : 'Look at its last lines, then deploy a fix or restart it.',
  }
}
