import { deleteOver, getFreeze, nextChange } from '../environments/freeze-store.ts'
import type { ChangeFeed } from '../live/change-feed.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import type { TriggerDeps } from './trigger.ts'
import { holdWaiting, listHeld, met, publishStarted, startWaiting } from './waiting-store.ts'

type FreezeDeps = TriggerDeps & { scheduler: Scheduler; changes: ChangeFeed }

/** Starts what waits for the end of a freeze, until the signal: also of one that ended while Davit was down. */
export const keepFreezes = (deps: FreezeDeps, { signal }: { signal: AbortSignal }) =>
  deps.scheduler.keep(
    {
      next: (now) => (listChanged(deps, now).length > 0 ? now : nextChange(deps.db, new Date(now))),
      run(now) {
        deleteOver(deps.db, new Date(now))
        deps.changes.touch() // pages say whether it has begun
        for (const { held, ownerId, freeze } of listChanged(deps, now))
          if (freeze) {
            holdWaiting(deps.db, held, freeze)
            deps.logs.publish(held.id, { status: 'waiting' })
          } else {
            const queued = startWaiting(deps.db, { deployment: held, ownerId })
            if (queued)
              publishStarted(
                deps,
                queued,
                `The freeze it waited for is over: ${held.freeze!.reason}`,
              )
          }
      },
      failed: 'what waits for the end of a freeze was not started',
    },
    { signal },
  )

/** Those whose freeze is over, or another one now. */
const listChanged = ({ db }: FreezeDeps, now: number) =>
  listHeld(db)
    .map(({ held, ownerId }) => ({
      ...{ held, ownerId },
      freeze: getFreeze(db, held.environmentId, new Date(now)),
    }))
    .filter(({ held, freeze }) => !freeze || !Bun.deepEquals(held.freeze, met(freeze)))
