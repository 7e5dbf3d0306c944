import type { Deployment } from '../deployments/store.ts'
import { ProcfileNote } from '../environments/procfile-note.tsx'
import type { Environment } from '../environments/store.ts'
import { environmentPath } from '../environments/views.tsx'
import { DeployEnvironmentButton } from '../projects/deploy-button.tsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { AppAddress, CommitRef, EmptyState, Fact, Trouble } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { DialogButton } from '../web/row-actions.tsx'
import { Badge, StatusBadge } from '../web/status-badge.tsx'
import { CheckIcon, SquareIcon, WarningIcon } from '../web/icons.tsx'
import { Ago } from '../web/times.tsx'
import type { LiveInstance } from './live.ts'
import { Pending } from './pending.tsx'
import type { EnvironmentView } from './shown.ts'

/** What an environment runs, and what can be done about it; it asks for itself again every few seconds. */
export const EnvironmentStatus = (view: EnvironmentView) => {
  const { environment, current, latest, url, step } = view
  return (
    <section
      id="environment-status"
      class="environment-status"
      aria-label="Status"
      data-announce={`The environment is ${current?.status ?? 'not deployed'}.`}
    >
      {current?.errorCode && (
        <Trouble title={titleOf(current)} code={current.errorCode} hint={current.errorHint}>
          <p dir="auto">{current.errorMessage}</p>
        </Trouble>
      )}
      <div class="status-line">
        {current ? (
          <StatusBadge status={current.status} />
        ) : (
          <span class="muted">Not deployed</span>
        )}
        {current?.status === 'running' && url && <AppAddress url={url} />}
        {environment.deletingAt && <span class="muted">being deleted</span>}
        {step && <span class="muted">{step}</span>}
        <div class="actions">
          <Actions {...view} />
        </div>
      </div>
      <Pending {...view} />
      {current && (
        <dl class="facts">
          <Fact name="Commit">
            <CommitRef hash={current.commitHash} message={current.commitMessage} />
          </Fact>
          <Fact name="Deployed">
            <a href={deploymentPath(current)}>
              <Ago at={current.createdAt} />
            </a>
          </Fact>
        </dl>
      )}
      {latest && latest.id !== current?.id && (
        <p>
          <StatusBadge status={latest.status} />{' '}
          <a href={deploymentPath(latest)}>The newest deployment</a> <Ago at={latest.createdAt} />
        </p>
      )}
      <Processes {...view} />
      <div
        hidden
        hx-get={environmentPath(environment)}
        hx-trigger="every 3s"
        hx-target="#environment-status"
        hx-swap="outerMorph"
      />
    </section>
  )
}

const titleOf = ({ errorStep }: Pick<Deployment, 'errorStep'>) =>
  errorStep === 'running' ? 'Davit stopped it' : `Failed while ${errorStep}`

const Actions = ({ project, environment, current, step }: EnvironmentView) => {
  if (environment.deletingAt || project.deletingAt) return null
  const runs = current?.status === 'running'
  return (
    <>
      {current && !runs && step === null && <Act on={environment} verb="start" label="Start" />}
      {runs && step === null && <Act on={environment} verb="restart" label="Restart" />}
      {(runs || step === 'starting' || step === 'restarting') && step !== 'stopping' && (
        <Act on={environment} verb="stop" label="Stop" />
      )}
      <DeployEnvironmentButton project={project} environment={environment} />
      <DialogButton
        path={`${environmentPath(environment)}/edit`}
        label={`Edit ${environment.name}`}
      >
        Edit
      </DialogButton>
    </>
  )
}

type ActProps = { on: Environment; verb: 'start' | 'restart' | 'stop'; label: string }

const Act = ({ on: { id, name }, verb, label }: ActProps) => (
  <PostForm action={`/envs/${id}/${verb}`}>
    <Button variant="outline" small aria-label={`${label} ${name}`}>
      {label}
    </Button>
  </PostForm>
)

const Processes = ({ live, environment }: EnvironmentView) => (
  <>
    <h2>Processes</h2>
    {!environment.deletingAt && <ProcfileNote environment={environment} />}
    {live === null ? (
      <EmptyState title="Nothing runs yet">
        <p>Deploy it, and its processes are listed here.</p>
      </EmptyState>
    ) : (
      <ul class="rows">
        {live.instances.map((instance) => (
          <li class="row">
            <InstanceBadge {...instance} />
            <div class="row-main">
              {instance.containerId ? (
                <a class="row-link" href={`/containers/${instance.containerId}`}>
                  <bdi>{instance.process}</bdi>
                </a>
              ) : (
                <bdi>{instance.process}</bdi>
              )}
              <p class="row-facts">
                <span>
                  {environment.memoryMb} MB, {environment.cpus} CPU
                </span>
              </p>
            </div>
          </li>
        ))}
      </ul>
    )}
  </>
)

const InstanceBadge = ({ state }: Pick<LiveInstance, 'state'>) => <Badge {...looks[state]} />

const looks = {
  running: { word: 'Running', tone: 'good', icon: CheckIcon },
  crash_looping: { word: 'Crash-looping', tone: 'bad', icon: WarningIcon },
  stopped: { word: 'Stopped', tone: 'quiet', icon: SquareIcon },
} as const
