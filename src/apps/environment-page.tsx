import type { Deployment } from '../deployments/store.ts'
import type { Environment } from '../environments/store.ts'
import { AddDatabase, LinkList } from '../links/links-page.tsx'
import { environmentPath } from '../environments/views.tsx'
import { DeployEnvironmentButton } from '../projects/deploy-button.tsx'
import { deploymentPath, deploymentTitle } from '../projects/deployment-list.tsx'
import { AppAddress, CommitRef, Fact, Trouble } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { Pending } from './pending.tsx'
import { Processes } from './processes.tsx'
import type { EnvironmentView } from './shown.ts'

/** What an environment runs, and what can be done about it; it asks for itself again every few seconds. */
export const EnvironmentStatus = (view: EnvironmentView) => {
  const { environment, current, url, step } = view
  return (
    <section
      id="environment-status"
      class="environment-status"
      aria-label="Status"
      data-announce={`The environment is ${step ?? current?.status ?? 'not deployed'}.`}
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
        {isGoing(view) ? <span class="muted">being deleted</span> : <Doing step={step} />}
        {!isGoing(view) && (
          <div class="actions">
            <Acts {...view} />
          </div>
        )}
      </div>
      {!isGoing(view) && <Pending {...view} />}
      <Facts {...view} />
      <Processes {...view} />
      <LinkedServices {...view} />
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

const LinkedServices = (view: EnvironmentView) => (
  <section aria-labelledby="services-heading">
    <div class="section-head">
      <h2 id="services-heading">Services</h2>
      {!isGoing(view) && <AddDatabase environment={view.environment} small />}
    </div>
    <LinkList {...view} />
  </section>
)

const isGoing = ({ environment, project }: Pick<EnvironmentView, 'environment' | 'project'>) =>
  environment.deletingAt !== null || project.deletingAt !== null

const titleOf = ({ errorStep }: Pick<Deployment, 'errorStep'>) =>
  errorStep?.startsWith('running')
    ? `Davit stopped ${errorStep.slice('running '.length) || 'it'}`
    : `Failed while ${errorStep}`

type ActionsProps = Pick<EnvironmentView, 'project' | 'environment' | 'isLast'>

/** What can be done about it, whatever runs. A deletion that failed can be tried again. */
export const EnvironmentActions = ({ project, environment, isLast }: ActionsProps) => (
  <>
    {!isGoing({ project, environment }) && (
      <>
        <DeployEnvironmentButton project={project} environment={environment} />
        <DialogButton
          path={`${environmentPath(environment)}/edit`}
          label={`Edit ${environment.name}`}
        >
          Edit
        </DialogButton>
      </>
    )}
    {!isLast && !project.deletingAt && (
      <DeleteButton
        path={environmentPath(environment)}
        label={`Delete ${environment.name}`}
        question={{
          text: `Delete the environment ${environment.name}? Its containers are removed; its volumes stay.`,
          answer: 'Delete environment',
        }}
      >
        Delete
      </DeleteButton>
    )}
  </>
)

const Doing = ({ step }: Pick<EnvironmentView, 'step'>) =>
  step && <span class="muted">{step}…</span>

/** A start or restart that is under way can be stopped. */
const Acts = ({ environment, current, instances, step }: EnvironmentView) => {
  if (!current || step === 'stopping') return null
  const runs = instances.some(({ state }) => state !== 'stopped')
  const isWhole = runs && instances.every(({ state }) => state !== 'stopped')
  return (
    <>
      {step === null && !isWhole && <Act on={environment} verb="start" label="Start" />}
      {step === null && runs && <Act on={environment} verb="restart" label="Restart" />}
      {(runs || step !== null) && <Act on={environment} verb="stop" label="Stop" />}
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

const Facts = ({ project, environment, current, latest }: EnvironmentView) => (
  <dl class="facts">
    {current && (
      <>
        <Fact name="Commit">
          <CommitRef hash={current.commitHash} message={current.commitMessage} />
        </Fact>
        <Fact name="Deployed">
          <a href={deploymentPath(current)}>
            <Ago at={current.finishedAt ?? current.createdAt} />
          </a>
        </Fact>
      </>
    )}
    {latest && latest.id !== current?.id && (
      <Fact name="Newest deployment">
        <a href={deploymentPath(latest)}>{deploymentTitle(latest)}</a>{' '}
        <span class="muted">
          {latest.status}, <Ago at={latest.createdAt} />
        </span>
      </Fact>
    )}
    <Fact name="Branch">
      <bdi>{environment.branch ?? project.branch ?? 'the default one'}</bdi>
    </Fact>
  </dl>
)
