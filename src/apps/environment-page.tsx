import type { Deployment } from '../deployments/store.ts'
import { SourceFacts } from '../deployments/deployment-facts.tsx'
import { KeptVersion } from '../deployments/rollback-dialog.tsx'
import { EdgeNote } from '../domains/domains-page.tsx'
import { Addresses } from '../domains/addresses.tsx'
import { environmentPath } from '../environments/paths.ts'
import { PinFact } from '../environments/server-notes.tsx'
import { followedInWords } from '../environments/followed.ts'
import { AddDatabase, LinkList } from '../links/links-page.tsx'
import { commitTitle, deploymentPath } from '../projects/deployment-list.tsx'
import { runPath } from '../runs/runs-page.tsx'
import { Fact, Trouble } from '../web/components.tsx'
import { Live } from '../web/live.tsx'
import { statusInWords } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { counted } from '../web/units.ts'
import { Processes } from './processes.tsx'
import type { EnvironmentView } from './shown.ts'
import { fieldLabels } from '../deployments/settings.ts'
import { Button, PostForm } from '../web/form.tsx'

/** Details of what an environment runs; its header has its state and the actions. */
export const EnvironmentStatus = (view: EnvironmentView) => {
  const { addresses, current } = view
  return (
    <Live as="section" id="environment-status" class="environment-status" aria-label="Status">
      {current?.errorCode && (
        <Trouble title={titleOf(current)} code={current.errorCode} hint={current.errorHint}>
          <p dir="auto">{current.errorMessage}</p>
        </Trouble>
      )}
      <FailingSchedules {...view} />
      {addresses.domains.length > 0 && <EdgeNote {...addresses} />}
      {!isGoing(view) && <Pending {...view} />}
      <Facts {...view} />
      <Processes {...view} />
      <LinkedServices {...view} />
    </Live>
  )
}

const FailingSchedules = ({ environment, failing }: EnvironmentView) =>
  failing.length > 0 && (
    <Trouble title={`${counted(failing.length, 'schedule')} failed last time`}>
      <ul>
        {failing.slice(0, 5).map(({ schedule, run }) => (
          <li>
            <a href={run && !schedule.problem ? runPath(run) : `/envs/${environment.id}/schedules`}>
              <bdi>{schedule.name}</bdi>
            </a>
            : {schedule.problem?.message ?? run?.errorMessage ?? `exit code ${run?.exitCode}`},{' '}
            <Ago at={schedule.problem ? schedule.dueAt : run!.createdAt} />
          </li>
        ))}
      </ul>
    </Trouble>
  )

const LinkedServices = (view: EnvironmentView) => (
  <section aria-labelledby="services-heading">
    <div class="section-head">
      <h2 id="services-heading">Services</h2>
      {!isGoing(view) && view.links.length > 0 && (
        <AddDatabase environment={view.environment} small />
      )}
    </div>
    <LinkList links={view.links} environment={isGoing(view) ? null : view.environment} />
  </section>
)

const isGoing = ({ environment, project }: Pick<EnvironmentView, 'environment' | 'project'>) =>
  environment.deletingAt !== null || project.deletingAt !== null

const titleOf = ({ errorStep }: Pick<Deployment, 'errorStep'>) =>
  errorStep?.startsWith('running')
    ? `Davit stopped ${errorStep.slice('running '.length) || 'it'}`
    : `Failed while ${errorStep}`

const Facts = (view: EnvironmentView) => {
  const { project, environment, addresses, current, latest, promotedFrom, kept } = view
  return (
    <dl class="facts">
      <Addresses {...addresses} />
      {current && (
        <>
          <SourceFacts deployment={current} project={project} />
          <Fact name="Deployed">
            <a href={deploymentPath(current)}>
              <Ago at={current.finishedAt ?? current.createdAt} />
            </a>
          </Fact>
        </>
      )}
      <PinFact pin={view.pin} path={`/envs/${view.environment.id}`} />
      {kept && !isGoing(view) && (
        <Fact name="Version before">
          <KeptVersion deployment={kept} />
        </Fact>
      )}
      {latest && latest.id !== current?.id && (
        <Fact name="Newest deployment">
          <a href={deploymentPath(latest)}>{commitTitle(latest)}</a>{' '}
          <span class="muted">
            {statusInWords(latest.status)}, <Ago at={latest.createdAt} />
          </span>
        </Fact>
      )}
      {promotedFrom && (
        <Fact name="Promoted from">
          <a href={environmentPath(promotedFrom)}>
            <bdi>{promotedFrom.name}</bdi>
          </a>
          {environment.promoteAutomatically && ', automatically'}
        </Fact>
      )}
      {project.image === null && !promotedFrom && !view.preview && (
        <Fact name="Follows">
          <bdi>{followedInWords({ environment, project })}</bdi>
        </Fact>
      )}
    </dl>
  )
}

/** The changes since the live deployment, each with a link, and the button to apply them. */
const Pending = ({ environment, pending, current }: EnvironmentView) => {
  const { names, needBuild } = pending
  if (names.length === 0 || !current || environment.deletingAt) return null
  const canApply = names.length > needBuild.length
  return (
    <section class="note pending" aria-labelledby="pending-heading">
      <h2 id="pending-heading">
        {counted(names.length, 'change')} since{' '}
        <a href={deploymentPath(current)}>the live deployment</a>
      </h2>
      <ul aria-label="Changes">
        {names.map((name) => (
          <li>
            <Change name={name} environment={environment} />
          </li>
        ))}
      </ul>
      {needBuild.length > 0 && (
        <p>
          {needBuild.join(', ')} {needBuild.length === 1 ? 'is' : 'are'} also used by the build
          {environment.promoteFrom === null
            ? ': deploy to rebuild the image.'
            : ', and its image was built with those of the environment it is promoted from.'}
        </p>
      )}
      {canApply && (
        <PostForm action={`/projects/${environment.projectId}/deployments`} class="actions">
          <input type="hidden" name="environment_id" value={environment.id} />
          <input type="hidden" name="reuse_image" value="1" />
          <Button small>Apply changes</Button>
          <span class="muted">
            {environment.releaseCommand === null
              ? 'Restarts the app'
              : 'Runs the release command, then restarts the app'}{' '}
            with the same image, without a build.
          </span>
        </PostForm>
      )}
    </section>
  )
}

const Change = ({ name, environment }: { name: string } & Pick<EnvironmentView, 'environment'>) => {
  if (name in fieldLabels)
    return (
      <a href={`${environmentPath(environment)}/edit`}>
        {fieldLabels[name as keyof typeof fieldLabels]}
      </a>
    )
  if (name === 'links') return <a href={`/envs/${environment.id}/links`}>linked services</a>
  return (
    <a href={`/envs/${environment.id}/variables`}>
      <code>{name}</code>
    </a>
  )
}
