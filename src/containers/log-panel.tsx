import { raw } from 'hono/html'
import { LogFrame, LogTool } from '../logs/viewer.tsx'
import { Failure } from '../platform/errors.ts'
import type { Found, Place } from './find.ts'
import { lineHtml } from './log-line.ts'
import type { Line } from './log-line.ts'
import { sourceOf } from './log-source.ts'
import type { LogDeps } from './log-source.ts'
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
export const ContainerLogPanel = ({ log }: { log: ContainerLog }) => {
  if (log.problem)
    return (
      <section class="log" aria-labelledby="log-heading">
        <h2 id="log-heading">Log</h2>
        <p>{log.problem}</p>
      </section>
    )
  const count = log.lines.length
  return (
    <LogFrame
      class="log container-log"
      path={`${containerPath(log)}/logs`}
      data-tail={log.lines.at(-1)?.id ?? ''}
      heading="Log"
      note={count > 0 ? `The last ${count} lines, times in UTC.` : null}
      rows={<div class="log-lines">{raw(log.lines.map((line) => lineHtml(line)).join(''))}</div>}
      search="Only lines with…"
      choices={<Choices />}
      buttons={
        <LogTool name="copy" data-scripted hidden>
          Copy
        </LogTool>
      }
    >
      <Reach kept={log.kept} />
    </LogFrame>
  )
}

const Choices = () => (
  <div class="log-choices" data-scripted hidden>
    <label class="visually-hidden" for="log-since">
      From
    </label>
    <select id="log-since" class="select">
      <option value="">Last lines</option>
      <option value="10m">10 minutes</option>
      <option value="1h">1 hour</option>
      <option value="1d">1 day</option>
      <option value="time">From a time…</option>
    </select>
    <input
      id="log-from"
      class="input"
      type="datetime-local"
      step="1"
      aria-label="From this time"
      hidden
    />
    {['stdout', 'stderr', 'Times'].map((label) => (
      <LogTool name={label.toLowerCase()} class="btn log-toggle" aria-pressed="true">
        {label}
      </LogTool>
    ))}
  </div>
)

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
