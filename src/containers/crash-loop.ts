import type { Db } from '../db/index.ts'
import type { EngineEvent, EngineFeed, Engines } from '../docker/index.ts'
import { web } from '../environments/processes.ts'
import { report } from '../platform/journal.ts'
import { readLabels } from '../docker/labels.ts'
import { stopContainer } from '../runtime/act.ts'
import type { ObservedContainers } from '../runtime/observed-containers.ts'
import { crashLoop } from '../runtime/crash-count.ts'
import type { CrashCount } from '../runtime/crash-count.ts'
import { findPlace } from './find.ts'
import { clearStopReason, setStopReason } from './store.ts'
import type { StopReason } from './store.ts'
import { noteInspected, noteTrouble } from './troubles.ts'

/** Consecutive restarts after which an app is stopped. */
const maxRestarts = 10

type LoopDeps = {
  db: Db
  engines: Engines
  feed: EngineFeed
  instanceId: string
  observed: ObservedContainers
}

/** Tracks all containers, and stops an app in a crash loop. Its next start clears the reason. */
export const watchContainers = (deps: LoopDeps, { signal }: { signal: AbortSignal }) =>
  deps.observed.run(deps.feed, {
    signal,
    onInspected: (container) => reported(() => noteInspected(deps, container)),
    onEvent(event) {
      reported(() => noteTrouble(deps, event))
      const { id, action, attributes } = event
      const restarts = deps.observed.crashes.restartsOf(id)
      if (action !== 'start' || readLabels(attributes).instanceId !== deps.instanceId) return
      if (restarts === 0) clearStopReason(deps.db, id)
      if (restarts < maxRestarts) return
      stopLoop(deps, event).catch((error) => report('a crash loop was not stopped', error, { id }))
    },
  })

/** What follows is more important than what people are told. */
function reported(note: () => void) {
  try {
    note()
  } catch (error) {
    report('what is wrong with a container could not be stored', error)
  }
}

/** Stores the reason before stopping it, so that the reason exists when the state changes. */
async function stopLoop(deps: LoopDeps, event: EngineEvent) {
  const { id } = event
  const place = await findPlace(deps, id)
  if (place?.kind !== 'own' || !place.deployment) return
  const name = place.process?.name === web ? 'the app' : `the process ${place.process?.name}`
  const why = reasonOf(deps.observed.crashes, { id, name })
  setStopReason(deps.db, id, why)
  await stopContainer(deps.engines.of(event), { id, name })
}

function reasonOf(crashes: CrashCount, { id, name }: { id: string; name: string }): StopReason {
  const end = crashes.lastEndOf(id)
  const last = end?.oom
    ? 'the last time it was out of memory'
    : `the last exit code was ${end?.exitCode ?? 'unknown'}`
  return {
    code: crashLoop,
    message: `${name.replace('the', 'The')} exited ${crashes.restartsOf(id)} times in a row soon after its start; ${last}. Davit stopped it.`,
    hint: end?.oom
      ? 'Raise its memory limit and deploy again, or restart it to see it fail.'
      : 'Check its last lines, then deploy a fix or restart it.',
  }
}
