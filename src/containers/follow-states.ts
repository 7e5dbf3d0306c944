import type { Container, Docker, EngineFeed } from '../docker/index.ts'
import { resync } from '../live/hub.ts'
import { Failure } from '../platform/errors.ts'
import { awayNote, changeNote, endNote } from './log-note.ts'
import type { LogNote } from './log-note.ts'

/** What happens to a container, from what it is now on, until it is gone. */
export async function* followStates(
  { docker, feed }: { docker: Docker; feed: EngineFeed },
  id: string,
  signal: AbortSignal,
): AsyncGenerator<LogNote> {
  let seen: Container | 'away' | null = null
  for await (const event of feed.listen(signal)) {
    if (event !== resync && event.id !== id) continue
    try {
      const now = await docker.inspectContainer(id, { signal })
      if (!now) return yield endNote('removed')
      const note = changeNote(seen, now)
      seen = now
      if (note) yield note
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof Failure)) throw error
      if (seen !== 'away') yield awayNote()
      seen = 'away'
    }
  }
}
