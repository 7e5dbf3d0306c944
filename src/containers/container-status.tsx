import { PageHead, Trouble } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import { ContainerActions } from './actions.tsx'
import { Live } from '../web/live.tsx'
import { Badge, ContainerBadge, stateInWords } from '../web/status-badge.tsx'
import type { ContainerView } from './container-view.ts'
import { restarts } from './container-row.tsx'
import { isUp } from '../runtime/workload.ts'
import { isKept, keptLook, stopReasonOf } from './row.ts'
import { terminalPath } from './terminal/page.tsx'

/** Refreshes itself every few seconds. */
export const ContainerStatus = ({ view }: { view: ContainerView }) => {
  const { container, place, looping } = view
  const reason = stopReasonOf(view)
  const shown = { ...container, looping }
  return (
    <Live
      as="section"
      id="container-status"
      aria-label="Status"
      data-announce={`The container is ${stateInWords(shown)}.`}
    >
      <PageHead title={container.name} crumbs={[{ href: '/containers', name: 'Containers' }]} />
      {reason && (
        <Trouble title="Davit stopped it" hint={reason.hint}>
          <p dir="auto">{reason.message}</p>
        </Trouble>
      )}
      {container.error && !isUp(container) && (
        <Trouble title="Docker couldn’t start it">
          <p dir="auto">{container.error}</p>
        </Trouble>
      )}
      <div class="status-line">
        <p hidden data-gone>
          This container was removed.
        </p>
        {isKept(place) && !isUp(container) ? (
          <Badge {...keptLook} />
        ) : (
          <ContainerBadge {...shown} />
        )}
        <Facts view={view} />
        <div class="actions">
          {view.hasTerminal && (
            <ButtonLink small variant="outline" href={terminalPath(container)}>
              Terminal
            </ButtonLink>
          )}
          <ContainerActions container={container} place={place} target="#container-status" />
        </div>
      </div>
      <WayBack view={view} />
    </Live>
  )
}

const Facts = ({ view: { container } }: { view: ContainerView }) => (
  <p class="row-facts">
    {container.exitCode !== null && <span>exit code {container.exitCode}</span>}
    {container.restartCount > 0 && <span class="telling">{restarts(container.restartCount)}</span>}
    {container.oomKilled && <span class="telling">ran out of memory</span>}
    {container.startedAt && (
      <span>
        started <Ago at={container.startedAt} />
      </span>
    )}
    {!isUp(container) && container.finishedAt && (
      <span>
        ended <Ago at={container.finishedAt} />
      </span>
    )}
  </p>
)

const WayBack = ({ view: { container, place, isOwner } }: { view: ContainerView }) => {
  if (isUp(container) || place.kind === 'other' || !place.project || !isOwner) return null
  return (
    <p class="muted">
      {isKept(place)
        ? 'It belongs to the previous version, and is kept stopped until the next deployment: a rollback starts it.'
        : 'Start restarts this container unchanged.'}{' '}
      To run the newest commit instead,{' '}
      <a href={`/projects/${place.project.id}`}>deploy the project</a>.
    </p>
  )
}
