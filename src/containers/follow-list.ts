import { Failure } from '../platform/errors.ts'
import type { User } from '../web/factory.ts'
import { sseEvent } from '../web/sse.ts'
import { listVisible } from './find.ts'
import type { FindDeps } from './find.ts'
import { containerJson } from './json.ts'
import { rowOf } from './row.ts'
import type { RowDeps } from './row.ts'

/**
 * Yields the list as JSON at once and after changes, at most once a second.
 * While the engine is unreachable, the last list stays valid.
 */
export async function* followList(
  deps: FindDeps & RowDeps,
  { user, signal }: { user: User; signal: AbortSignal },
) {
  let sent = ''
  for await (const _ of deps.observed.changes(signal)) {
    try {
      const seen = await listVisible(deps, user, { signal })
      const containers = seen.map((listed) => containerJson(rowOf(deps, listed)))
      const data = JSON.stringify({ containers })
      if (data !== sent) yield sseEvent({ data })
      sent = data
    } catch (error) {
      if (!(error instanceof Failure)) throw error
    }
  }
}
