import type { LogDb } from '../db/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import {
  endExpired,
  firstExpiry,
  listEndedPreviews,
  listLeftServices,
} from '../environments/preview-store.ts'
import { removeEnvironment } from '../environments/remove.ts'
import { report } from '../platform/journal.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { removeService } from '../services/remove.ts'
import type { RemovalDeps } from '../services/remove.ts'
import { updateService } from '../services/store.ts'

type Deps = RemovalDeps &
  Parameters<typeof removeEnvironment>[0] & { logDb: LogDb; scheduler: Scheduler }

/** Milliseconds until what failed is tried again. */
const retryDelay = 60_000

type Pulled = { projectId: string; number: number }

type Options = {
  signal: AbortSignal
  /** Pull requests whose preview was deleted, also by hand, and of which an event came meanwhile. */
  listReturning: () => Pulled[]
  /** Applies that event. */
  bringBack: (of: Pulled) => Promise<void>
}

/**
 * Deletes previews that were closed or have expired, until the signal: also what ended while Davit was down. One at a
 * time, and first what hasn’t failed yet: those of a server that is away hold up the others for no longer than one try.
 */
export function keepPreviews(deps: Deps, { signal, listReturning, bringBack }: Options) {
  /** When they are tried again, by id. */
  const failed = new Map<string, number>()
  async function isBack(of: Pulled) {
    try {
      await bringBack(of)
      return true
    } catch (error) {
      report('a preview did not come back', error, of)
      return false
    }
  }
  const listSteps = () =>
    [
      ...listReturning().map((of) => ({
        id: `${of.projectId} ${of.number}`,
        take: () => isBack(of),
      })),
      ...listEnded(deps).map((id) => ({ id, take: () => removeEnded(deps, id, { signal }) })),
    ]
      .map((step) => ({ ...step, due: failed.get(step.id) ?? 0 }))
      .sort((a, b) => a.due - b.due)
  return deps.scheduler.keep(
    {
      next(now) {
        const [first] = listSteps()
        const at = Math.min(firstExpiry(deps.db) ?? Infinity, first?.due ?? Infinity)
        return at === Infinity ? null : Math.max(now, at)
      },
      async run(now) {
        endExpired(deps.db, new Date(now))
        const [first] = listSteps()
        if (!first || first.due > now) return
        failed.delete(first.id)
        if (!(await first.take())) failed.set(first.id, deps.scheduler.now() + retryDelay)
      },
      failed: 'previews were not deleted',
    },
    { signal },
  )
}

const listEnded = ({ db }: Deps) => [
  ...listEndedPreviews(db).map(({ environment }) => environment.id),
  ...listLeftServices(db).map(({ id }) => id),
]

/** False if that failed for another reason than an engine that is away. */
async function removeEnded(deps: Deps, id: string, { signal }: { signal: AbortSignal }) {
  const options = { signal, failed: 'a preview was not deleted', fields: { id } }
  const removed = await retryWhileEngineDown(deps.docker, options, async () => {
    const ended = listEndedPreviews(deps.db).find(({ environment }) => environment.id === id)
    if (ended) return removeEnvironment(deps, ended.environment)
    const left = listLeftServices(deps.db).find((one) => one.id === id)
    if (!left) return []
    const deletingAt = left.deletingAt ?? new Date()
    const service = updateService(deps.db, id, { deletingAt, deletingVolumes: true })
    return removeService(deps, { service, volumes: true })
  })
  return removed !== null
}
