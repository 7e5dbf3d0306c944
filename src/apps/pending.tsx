import { fieldLabels } from '../deployments/settings.ts'
import { environmentPath } from '../environments/views.tsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { Button, PostForm } from '../web/form.tsx'
import type { EnvironmentView } from './shown.ts'
import { counted } from '../web/units.ts'

/** The changes since the live deployment, each with a link, and the button to apply them. */
export const Pending = ({ environment, pending, current }: EnvironmentView) => {
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

type ChangeProps = { name: string } & Pick<EnvironmentView, 'environment'>

const Change = ({ name, environment }: ChangeProps) => {
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
