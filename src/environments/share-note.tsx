import { deploymentPath } from '../projects/deployment-list.tsx'
import { Button, PostForm } from '../web/form.tsx'
import type { EnvironmentHead } from './head.ts'
import { environmentPath } from './paths.ts'
import type { Environment } from './store.ts'

export const sharePath = (key: Pick<Environment, 'id' | 'projectId'>) =>
  `${environmentPath(key)}/share`

export const ShareActions = ({ path }: { path: string }) => (
  <div class="actions">
    <PostForm action={`${path}/promote`}>
      <Button small>Give it all requests</Button>
    </PostForm>
    <PostForm action={`${path}/cancel`}>
      <Button small variant="outline">
        Take it back
      </Button>
    </PostForm>
  </div>
)

export const ShareNote = ({ shared }: { shared: NonNullable<EnvironmentHead['shared']> }) => (
  <div class="note pending planned">
    <p>
      <a href={deploymentPath(shared)}>{`#${shared.number}`}</a> gets {shared.watch!.share!.percent}{' '}
      % of the requests.
    </p>
    <ShareActions path={deploymentPath(shared)} />
  </div>
)
