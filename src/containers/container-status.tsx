import { PageHead, Trouble } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import { ContainerActions } from './actions.tsx'
import { ContainerBadge, stateInWords } from '../web/status-badge.tsx'
import { noContainer } from './find.ts'
import type { ContainerView } from './container-view.ts'
import { restarts } from './container-row.tsx'
import { isUp } from '../runtime/workload.ts'
import { containerPath, stopReasonOf } from './row.ts'
import { terminalPath } from './terminal/page.tsx'

/** How a container fares and what can be done to it; it asks for itself again every few seconds. */
export const ContainerStatus = ({ view }: { view: ContainerView }) => {
  const { container, place, looping } = view
  const reason = stopReasonOf(view)
  const shown = { ...container, looping }
  return (
    <section
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
        <Trouble title="The engine could not start it">
          <p dir="auto">{container.error}</p>
        </Trouble>
      )}
      <div class="status-line">
        <ContainerBadge {...shown} />
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
      <div
        hidden
        hx-get={containerPath(container)}
        hx-trigger="every 3s"
        hx-target="#container-status"
        hx-swap="outerMorph"
      />
    </section>
  )
}

/** In the place of the status of one that went while its page was open. */
export const GoneStatus = () => (
  <section id="container-status" aria-label="Status" data-announce="The container is gone.">
    <PageHead title="Gone" crumbs={[{ href: '/containers', name: 'Containers' }]} />
    <p>
      {noContainer().message} A new deployment takes the place of the one before.{' '}
      <a href="/containers">See what runs now</a>.
    </p>
  </section>
)

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

/** How a stopped app comes back. */
const WayBack = ({ view: { container, place, isOwner } }: { view: ContainerView }) => {
  if (isUp(container) || place.kind === 'other' || !place.project || !isOwner) return null
  return (
    <p class="muted">
      Start brings this container back as it was. To run the newest commit instead,{' '}
      <a href={`/projects/${place.project.id}`}>deploy the project</a>.
    </p>
  )
}
