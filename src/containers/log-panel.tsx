import { raw } from 'hono/html'
import { Failure } from '../platform/errors.ts'
import { assetPath } from '../web/static.ts'
import type { Found, Place } from './find.ts'
import { lineHtml } from './log-line.ts'
import type { Line } from './log-line.ts'
import { sourceOf } from './log-source.ts'
import type { LogDeps } from './log-source.ts'
import { LogTools } from './log-tools.tsx'
import { containerPath } from './row.ts'

/** What the page itself carries; the viewer goes on from it. */
const page = { tail: 200, maxLength: 64 * 1024 }

/** The end of a container's log, as its page shows it. */
export type ContainerLog = {
  id: string
  lines: Line[]
  /** Why there are none. */
  problem: string | null
  /** Where the lines are kept beyond the life of the container. */
  kept: string | null
}

export async function logOf(
  deps: LogDeps,
  found: Found,
  signal: AbortSignal,
): Promise<ContainerLog> {
  const { id } = found.container
  const kept = keptPath(found.place)
  try {
    const lines = await sourceOf(deps, found).last({ ...page, signal })
    return { id, lines, problem: null, kept }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { id, lines: [], problem: `${error.message} ${error.hint}`, kept }
  }
}

function keptPath(place: Place) {
  if (place.kind !== 'own') return null
  if (place.service) return `/services/${place.service.id}/output`
  if (!place.project || !place.environment) return null
  return `/projects/${place.project.id}/envs/${place.environment.id}/output`
}

/** What a container wrote last, and writes. */
export const ContainerLogPanel = ({ log }: { log: ContainerLog }) => (
  <section class="log container-log" aria-labelledby="log-heading" {...viewerOf(log)}>
    <h2 id="log-heading">Log</h2>
    {log.problem ? <p>{log.problem}</p> : <Reach kept={log.kept} />}
    {!log.problem && (
      <>
        <LogTools download={`${logPath(log)}?download=1`} />
        <div
          class="log-scroller"
          role="log"
          aria-live="off"
          aria-labelledby="log-heading"
          tabindex={0}
        >
          {log.lines.length > 0 && (
            <p class="log-note">The last {log.lines.length} lines, times in UTC.</p>
          )}
          <div class="log-lines">{raw(log.lines.map((line) => lineHtml(line)).join(''))}</div>
        </div>
        <script type="module" src={assetPath('container-log.js')} />
      </>
    )}
  </section>
)

const viewerOf = (log: ContainerLog) =>
  log.problem ? {} : { 'data-container-log': logPath(log), 'data-last': log.lines.at(-1)?.id ?? '' }

/** The engine's own log is not complete: it skips lines when its files rotate under a burst. */
const Reach = ({ kept }: { kept: string | null }) => (
  <p class="muted log-reach">
    {kept ? (
      <>
        What it writes is here after a second at most, and stays when it is gone:{' '}
        <a href={kept}>all logs</a>.
      </>
    ) : (
      'This follows the engine’s own log, which ends with the container and can skip lines in a burst.'
    )}
  </p>
)

const logPath = ({ id }: ContainerLog) => `${containerPath({ id })}/logs`
