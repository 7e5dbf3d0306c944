import { deploymentPath } from '../projects/deployment-list.tsx'
import { Button, PostForm } from '../web/form.tsx'
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

type Props = {
  shared: { id: string; projectId: string; number: number }
  percent: number
}

export const ShareNote = ({ shared, percent }: Props) => (
  <div class="note pending planned">
    <p>
      <a href={deploymentPath(shared)}>{`#${shared.number}`}</a> gets {percent} % of the requests.
    </p>
    <ShareActions path={deploymentPath(shared)} />
  </div>
)
