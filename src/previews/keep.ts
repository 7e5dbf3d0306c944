import type { LogDb } from '../db/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import {
  endExpired,
  firstExpiry,
  listEndedPreviews,
  listLeftServices,
} from '../environments/preview-store.ts'
import { removeEnvironment } from '../environments/remove.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { removeService } from '../services/remove.ts'
import type { RemovalDeps } from '../services/remove.ts'
import { updateService } from '../services/store.ts'

type Deps = RemovalDeps &
  Parameters<typeof removeEnvironment>[0] & { logDb: LogDb; scheduler: Scheduler }

/** Milliseconds until a removal that failed is tried again. */
const retryDelay = 60_000

type Pulled = { projectId: string; number: number }

type Options = {
  signal: AbortSignal
  /** Pull requests whose preview was deleted, also by hand, and of which an event came meanwhile. */
  listReturning: () => Pulled[]
  /** Applies that event. */
  bringBack: (of: Pulled) => Promise<void>
}

/** Deletes previews that were closed or have expired, until the signal: also what ended while Davit was down. */
export function keepPreviews(deps: Deps, { signal, listReturning, bringBack }: Options) {
  /** When they are tried again, by id. */
  const failed = new Map<string, number>()
  const dueOf = (id: string) => failed.get(id) ?? 0
  return deps.scheduler.keep(
    {
      next(now) {
        if (listReturning().length > 0) return now
        const times = [firstExpiry(deps.db) ?? Infinity, ...listEnded(deps).map(dueOf)]
        const first = Math.min(...times)
        return first === Infinity ? null : Math.max(now, first)
      },
      async run(now) {
        endExpired(deps.db, new Date(now))
        for (const id of listEnded(deps).filter((id) => dueOf(id) <= now)) {
          failed.delete(id)
          if (!(await removeEnded(deps, id, { signal }))) failed.set(id, now + retryDelay)
        }
        for (const of of listReturning()) await bringBack(of)
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
