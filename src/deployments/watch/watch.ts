import type { MetFreeze, WatchEnd, WatchVerdict } from '../../db/schema.ts'
import { retryWhileEngineDown } from '../../docker/retry-while-engine-down.ts'
import type { WatchDeps } from '../context.ts'
import { observe } from '../observe.ts'
import { goBack, takeBack } from './go-back.ts'
import { endWatch, promote } from './end.ts'
import { untilVerdict } from './look.ts'
import { getWatched } from './store.ts'
import { tellReverted } from './tell.ts'

export type Ending = {
  end: Extract<WatchEnd, 'kept' | 'replaced' | 'interrupted' | 'stopped' | 'cancelled'> | 'promoted'
  by: string | undefined
  /** That it is promoted in. */
  freeze: MetFreeze | null
}

export type Run = {
  id: string
  stop: AbortController
  /** What told against it: requests are about to go back then, which nothing stops. */
  verdict: WatchVerdict | null
  /** How someone ended it. */
  ending: Ending | null
  done: Promise<void>
}

/** Until its time is over, someone ends it, or requests went back. Can be repeated from any point. */
export async function watch(deps: WatchDeps, run: Run) {
  const { shutdown } = deps
  const watched = getWatched(deps.db, run.id)
  if (!watched) return
  const signal = AbortSignal.any([run.stop.signal, shutdown])
  if (!run.ending) run.verdict ??= await untilVerdict(deps, watched, signal)
  if (!run.ending && !run.verdict) await observeOver(deps, run.id, signal)
  const now = getWatched(deps.db, run.id)
  if (shutdown.aborted || !now) return
  if (run.verdict) {
    if (await goBack(deps, now, run.verdict)) await tellReverted(deps, run.id)
    return
  }
  const { end, by, freeze } = run.ending ?? over
  if (end === 'promoted') await promote(deps, now, { by, freeze })
  else if (end === 'cancelled' || now.watch.share) await takeBack(deps, now, { end, by })
  else await endWatch(deps, now, { end, by })
}

/** One that still counts as running may have been stopped, while Davit was down or just now. Waits for the engine. */
async function observeOver(deps: WatchDeps, id: string, signal: AbortSignal) {
  const { environmentId, status } = getWatched(deps.db, id) ?? {}
  if (!environmentId || status === 'stopped') return
  const failed = 'a new version could not be observed'
  await retryWhileEngineDown(deps.docker, { signal, failed, fields: { deployment: id } }, () =>
    observe(deps, environmentId, { orphans: false, signal }),
  )
}

const over = { end: 'over' as const, by: undefined, freeze: null }
