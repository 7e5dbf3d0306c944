import { hasJob } from '../jobs/store.ts'
import type { ChangeFeed } from '../live/change-feed.ts'
import { ticks } from '../live/ticks.ts'
import { sseEvent } from '../web/sse.ts'
import { eventJson } from './json.ts'
import type { PullProgress } from './progress.ts'
import type { StatusProps } from './service-status.tsx'
import type { ShownService } from './shown.ts'
import type { ServiceDeps } from './state.ts'
import { getService } from './store.ts'
import { listAwaited } from '../servers/awaited-store.ts'

/** In milliseconds, between two updates: a pull reports progress many times a second. */
const interval = 250

/** In milliseconds, after which it updates in any case. */
const longest = 10_000

export type FollowDeps = ServiceDeps & {
  pulls: Map<string, PullProgress>
  changes: ChangeFeed
}

/** Yields the instance's state as JSON on every change, until it is deleted. */
export async function* followService(
  deps: FollowDeps,
  { id, signal }: { id: string; signal: AbortSignal },
) {
  const wakeOnChange = (wake: () => void) => deps.changes.listen(signal, wake, id)
  let sent = ''
  for await (const _ of ticks(wakeOnChange, { signal, interval, longest })) {
    const service = getService(deps.db, id)
    if (!service) break
    const data = JSON.stringify(eventJson(service, deps.pulls.get(id)?.images ?? []))
    if (data !== sent) yield sseEvent({ data })
    sent = data
  }
  yield gone
}

/** The event after a deletion: a client that reconnects would find nothing. */
const gone = sseEvent({ event: 'done', data: 'deleted' })

export const statusPropsOf = (
  { db, pulls, serverList }: Pick<FollowDeps, 'db' | 'pulls' | 'serverList'>,
  shown: ShownService,
): StatusProps => ({
  ...shown,
  isBusy: hasJob(db, shown.service.id),
  awaited: listAwaited(db, shown.service.id),
  canMove: serverList.list().length > 1,
  images: pulls.get(shown.service.id)?.images ?? [],
})
