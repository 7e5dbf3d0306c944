import { fields } from '../deployments/settings.ts'
import { environmentPath } from '../environments/views.tsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { Button, PostForm } from '../web/form.tsx'
import type { EnvironmentView } from './shown.ts'

/** What was changed since the live deployment, each with the way to it, and what applies it. */
export const Pending = ({ environment, pending, current }: EnvironmentView) => {
  const { names, needBuild } = pending
  if (names.length === 0 || !current || environment.deletingAt) return null
  const canApply = names.length > needBuild.length
  return (
    <section class="note pending" aria-labelledby="pending-heading">
      <h2 id="pending-heading">
        {names.length === 1 ? 'One change' : `${names.length} changes`} since{' '}
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
          {needBuild.join(', ')} {needBuild.length === 1 ? 'is' : 'are'} also given to the build:
          deploy, so that the image is built again.
        </p>
      )}
      {canApply && (
        <PostForm action={`/projects/${environment.projectId}/deployments`} class="actions">
          <input type="hidden" name="environment_id" value={environment.id} />
          <input type="hidden" name="reuse_image" value="1" />
          <Button small>Apply changes</Button>
          <span class="muted">
            {environment.releaseCommand === null
              ? 'Restarts it'
              : 'Runs the release command, then restarts it'}{' '}
            from the same image, without a build.
          </span>
        </PostForm>
      )}
    </section>
  )
}

type ChangeProps = { name: string } & Pick<EnvironmentView, 'environment'>

const Change = ({ name, environment }: ChangeProps) => {
  if (name in labels)
    return <a href={`${environmentPath(environment)}/edit`}>{labels[name as Field]}</a>
  if (name === 'links') return <a href={`/envs/${environment.id}/links`}>linked services</a>
  return (
    <a href={`/envs/${environment.id}/variables`}>
      <code>{name}</code>
    </a>
  )
}

type Field = (typeof fields)[number]

const labels: Record<Field, string> = {
  name: 'name',
  port: 'app port',
  hostPort: 'host port',
  healthPath: 'health path',
  healthTimeout: 'time to become healthy',
  memoryMb: 'memory',
  cpus: 'processors',
  volumes: 'volumes',
  processes: 'processes',
  releaseCommand: 'release command',
  releaseTimeout: 'time for the release command',
}
