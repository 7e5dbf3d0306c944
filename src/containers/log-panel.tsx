import { Choice } from '../logs/filter-choice.tsx'
import type { Chosen } from '../logs/filter-choice.tsx'
import { tail } from '../logs/read-log.ts'
import { TimeForm } from '../logs/output-page.tsx'
import { LogViewer } from '../logs/viewer.tsx'
import { environmentPath } from '../environments/paths.ts'
import { Failure } from '../platform/errors.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import type { FoundContainer } from './find.ts'
import type { ShownLogQuery } from './log-forms.ts'
import { end, shownLine } from './log-line.ts'
import { openLog, storedLogOf } from './open-log.ts'
import type { LogDeps } from './log-source.ts'
import { containerPath } from './place.ts'
import { counted } from '../web/units.ts'

type Kept = { href: string; name: string }

type ContainerLog = Awaited<ReturnType<typeof logOf>>

/** `problem` is the reason why there are no lines; `previous` is null at the start of the log. */
export async function logOf(
  deps: LogDeps,
  found: FoundContainer,
  {
    chosen,
    limit = tail.limit,
    signal,
  }: { chosen: ShownLogQuery; limit?: number; signal: AbortSignal },
) {
  try {
    const { before = end } = chosen
    const asked = { ...tail, ...chosen, before, limit, signal }
    const { lines, previous } = await openLog(deps, found).find(asked)
    const kept = keptAt(deps, found)
    return { problem: null, id: found.container.id, lines, previous, chosen, kept }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { problem: `${error.message} ${error.hint}` }
  }
}

/** Where the stored log can be read, which outlives the container; null if the log isn't stored. */
function keptAt(deps: LogDeps, found: FoundContainer): Kept | null {
  const { place } = found
  if (place.kind !== 'own') return null
  if (place.service) return { href: `/services/${place.service.id}/output`, name: 'all logs' }
  const { project, environment, deployment } = place
  if (!project || !environment) return null
  const jobId = storedLogOf(deps, found)?.logId
  if (!jobId) {
    const key = { id: environment.id, projectId: project.id }
    return { href: `${environmentPath(key)}/output`, name: 'all logs' }
  }
  if (jobId === deployment?.id) {
    const href = deploymentPath({ projectId: project.id, id: jobId })
    return { href, name: 'the log of the deployment' }
  }
  return { href: `/envs/${environment.id}/runs/${jobId}`, name: 'the log of the run' }
}

export const ContainerLogPanel = ({ log }: { log: ContainerLog }) => {
  if (log.problem !== null)
    return (
      <section class="log" aria-labelledby="log-heading">
        <h2 id="log-heading">Log</h2>
        <p>{log.problem}</p>
      </section>
    )
  const { id, lines, previous, chosen, kept } = log
  const path = containerPath({ id })
  return (
    <LogViewer
      path={`${path}/logs`}
      page={path}
      chosen={chosen}
      heading="Log"
      extent={{ first: lines[0]?.sequence ?? 1, last: lines.at(-1)?.sequence ?? 0 }}
      lines={lines.map(shownLine)}
      previous={previous}
      hasGaps
      note={lines.length > 0 ? `The last ${counted(lines.length, 'line')}, times in UTC.` : null}
      stream={`${path}/logs`}
      endsWithDone
      canGoToTime
      choices={<StreamChoice path={path} chosen={chosen} />}
    >
      <Reach kept={kept} />
      <TimeForm />
    </LogViewer>
  )
}

const StreamChoice = ({ path, chosen }: { path: string; chosen: Chosen }) => (
  <nav class="log-choice" aria-label="Outputs">
    {([undefined, 'stdout', 'stderr'] as const).map((stream) => (
      <Choice path={path} chosen={{ ...chosen, stream }} isShown={chosen.stream === stream}>
        {stream ?? 'All'}
      </Choice>
    ))}
  </nav>
)

/** The engine's own log isn't complete: it skips lines when its files rotate under a burst. */
const Reach = ({ kept }: { kept: Kept | null }) => (
  <p class="muted log-reach">
    {kept ? (
      <>
        Its output appears here within a second, and is kept after the container is removed:{' '}
        <a href={kept.href}>{kept.name}</a>.
      </>
    ) : (
      'This follows Docker’s own log, which is removed with the container and can skip lines in a burst.'
    )}
  </p>
)
