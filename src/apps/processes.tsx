import { containerPath } from '../containers/place.ts'
import { restarts } from '../containers/container-row.tsx'
import { terminalPath } from '../containers/terminal/page.tsx'
import { environmentPath } from '../environments/paths.ts'
import { ProcfileNote } from '../environments/procfile-note.tsx'
import { queryOf } from '../logs/filter-choice.tsx'
import { EmptyState } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { ContainerBadge, StatusBadge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { bytes, percent } from '../web/units.ts'
import type { EnvironmentView, ShownInstance } from './shown.ts'

/** Every container of the live release, by process. */
export const Processes = ({ instances, environment, hasTerminal, ...view }: EnvironmentView) => (
  <section aria-labelledby="processes-heading">
    <h2 id="processes-heading">Processes</h2>
    {!environment.deletingAt && <ProcfileNote environment={environment} />}
    {instances.length === 0 ? (
      <EmptyState title={view.live ? 'Its containers were removed' : 'Nothing is running yet'}>
        <p>
          {view.live
            ? 'Deploy it to create them again.'
            : 'Deploy it to see its processes here, with their state and usage.'}
        </p>
      </EmptyState>
    ) : (
      <ul class="rows service-parts">
        {instances.map((instance) => (
          <Instance
            {...{ instance, hasTerminal, wasStopped: view.wasStopped }}
            logs={logsOf(environment, instances.length > 1 ? [instance.name] : [])}
          />
        ))}
      </ul>
    )}
  </section>
)

const logsOf = (environment: EnvironmentView['environment'], process: string[]) =>
  `${environmentPath(environment)}/output${process.length > 0 ? `?${queryOf({ process })}` : ''}`

type InstanceProps = {
  instance: ShownInstance
  logs: string
} & Pick<EnvironmentView, 'hasTerminal' | 'wasStopped'>

const Instance = ({ instance, logs, hasTerminal, wasStopped }: InstanceProps) => {
  const { name, containerId, state, condition, limits, usage, reference, server } = instance
  const isKnown = state !== 'unknown'
  const isUp = isKnown && state !== 'stopped'
  const at = isUp ? condition?.startedAt : condition?.finishedAt
  return (
    <li class="row">
      {isKnown ? (
        <ContainerBadge
          state={isUp ? 'running' : 'exited'}
          health={state === 'unhealthy' ? state : null}
          looping={state === 'crash_looping'}
          oomKilled={condition?.oomKilled ?? false}
          exitCode={wasStopped ? null : (condition?.exitCode ?? null)}
        />
      ) : (
        <StatusBadge status="unknown" />
      )}
      <div class="row-main">
        {containerId ? (
          <a class="row-link" href={containerPath({ id: containerId })}>
            <bdi>{name}</bdi>
          </a>
        ) : (
          <bdi>{name}</bdi>
        )}
        <p class="row-facts">
          {server && (
            <span>
              on <bdi>{server}</bdi>
            </span>
          )}
          {reference !== null && (
            <span>
              <code>{reference}</code>
            </span>
          )}
          {isUp && usage && (
            <span>
              CPU {percent(usage.cpu)}, {bytes(usage.memory)} in use
            </span>
          )}
          {limits && (
            <span>
              at most {limits.memoryMb} MiB, {limits.cpus} CPU
            </span>
          )}
          {isUp && condition !== null && condition.restartCount > 0 && (
            <span class="telling">{restarts(condition.restartCount)}</span>
          )}
          {isUp && condition?.oomKilled && <span class="telling">ran out of memory</span>}
          {isKnown && at && (
            <span>
              {isUp ? 'started' : 'ended'} <Ago at={at} />
            </span>
          )}
        </p>
      </div>
      <div class="row-actions">
        <ButtonLink small variant="outline" href={logs} aria-label={`Logs of ${name}`}>
          Logs
        </ButtonLink>
        {hasTerminal && containerId && state === 'running' && (
          <ButtonLink
            small
            variant="outline"
            href={terminalPath({ id: containerId })}
            aria-label={`Terminal in ${name}`}
          >
            Terminal
          </ButtonLink>
        )}
      </div>
    </li>
  )
}
