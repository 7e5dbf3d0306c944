import type { Child } from 'hono/jsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import type { DeploymentItem } from '../projects/deployment-list.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'
import { comparePath } from './compare-page.tsx'
import { rollbackPath } from './rollback-dialog.tsx'
import { canRollBackTo, isLive } from './rollback.ts'
import { isEnded } from './store.ts'

/** Actions are folded so that lists stay calm. */
export const deploymentActions = ({ deployment }: DeploymentItem) => {
  const { projectId, environmentId, number, status, commitHash, branch, pullReference } = deployment
  if (!isEnded(status)) return <CancelButton {...deployment} />
  return (
    <ActionsMenu number={number}>
      {(commitHash || pullReference) && !isLive(deployment) && (
        <ButtonLink variant="ghost" small href={comparePath(deployment)}>
          Compare with live
        </ButtonLink>
      )}
      {canRollBackTo(deployment) && !isLive(deployment) && (
        <ButtonLink variant="ghost" small opens={rollbackPath(deployment)}>
          Roll back…
        </ButtonLink>
      )}
      <PostForm action={`/projects/${projectId}/deployments`}>
        <input type="hidden" name="environment_id" value={environmentId} />
        {branch && <input type="hidden" name="branch" value={branch} />}
        {commitHash && <input type="hidden" name="commit" value={commitHash} />}
        {pullReference && <input type="hidden" name="image" value={pullReference} />}
        <Button variant="ghost" small>
          {commitHash ? 'Redeploy this commit' : 'Deploy again'}
        </Button>
        {!pullReference && (
          <Button variant="ghost" small name="no_cache" value="1">
            Deploy without cache
          </Button>
        )}
      </PostForm>
    </ActionsMenu>
  )
}

export const ActionsMenu = ({ number, children }: { number: number; children: Child }) => (
  <details class="row-menu">
    <summary class="btn" data-variant="ghost" data-size="sm" aria-label={`Actions for #${number}`}>
      <Icon name="ellipsis" />
    </summary>
    <div class="row-menu-items">{children}</div>
  </details>
)

const CancelButton = (deployment: Parameters<typeof deploymentPath>[0] & { number: number }) => (
  <PostForm action={`${deploymentPath(deployment)}/cancel`}>
    <Button variant="outline" small aria-label={`Cancel #${deployment.number}`}>
      Cancel
    </Button>
  </PostForm>
)
