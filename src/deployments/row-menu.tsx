import type { Child } from 'hono/jsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import type { DeploymentItem } from '../projects/deployment-list.tsx'
import type { Project } from '../projects/store.ts'
import { parseImage } from '../registries/tag-pattern.ts'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'
import { comparePath } from './compare-page.tsx'
import { rollbackPath } from './rollback-dialog.tsx'
import { canRollBackTo, isLive } from './rollback.ts'
import { isEnded } from './store.ts'
import type { Deployment } from './store.ts'
import { isSameRepository } from './trigger.ts'

/** Actions are folded so that lists stay calm. */
export const deploymentActions = (project: Source) => (item: DeploymentItem) => {
  const { deployment } = item
  const { projectId, environmentId, number, status, commitHash, pullReference, upload } = deployment
  const isSame = isSameSource(deployment, project)
  if (!isEnded(status)) return <CancelButton {...deployment} />
  return (
    <ActionsMenu number={number}>
      {(commitHash || pullReference || upload) && !isLive(deployment) && (
        <ButtonLink variant="ghost" small href={comparePath(deployment)}>
          Compare with live
        </ButtonLink>
      )}
      {canRollBackTo(deployment) && !isLive(deployment) && (
        <ButtonLink variant="ghost" small opens={rollbackPath(deployment)}>
          Roll back…
        </ButtonLink>
      )}
      {!upload && (
        <PostForm action={`/projects/${projectId}/deployments`}>
          <input type="hidden" name="environment_id" value={environmentId} />
          <VersionFields {...{ deployment, project }} />
          {isSame && commitHash && <input type="hidden" name="commit" value={commitHash} />}
          <Button variant="ghost" small>
            {isSame && commitHash ? 'Redeploy this commit' : againOf(isSame)}
          </Button>
          {project.image === null && (
            <Button variant="ghost" small name="no_cache" value="1">
              Deploy without cache
            </Button>
          )}
        </PostForm>
      )}
    </ActionsMenu>
  )
}

type Source = Pick<Project, 'image'>
type OfSource = { deployment: Deployment; project: Source }

/** False for a deployment of another image, or of a repository that the project had before. */
export const isSameSource = ({ pullReference }: Deployment, { image }: Source) =>
  pullReference === null || image === null
    ? pullReference === image
    : isSameRepository(pullReference, image)

/** The button when the project deploys something else by now. */
export const againOf = (isSame: boolean) => (isSame ? 'Deploy again' : 'Deploy')

/** Name the branch or the image again; nothing once the project has another source. */
export const VersionFields = ({ deployment, project }: OfSource) => {
  const { branch, refType, pullReference } = deployment
  if (!isSameSource(deployment, project)) return null
  const isNamed = pullReference && parseImage(pullReference)?.pattern === null
  return (
    <>
      {branch && refType !== 'pull' && (
        <input type="hidden" name={refType === 'tag' ? 'tag' : 'branch'} value={branch} />
      )}
      {isNamed && <input type="hidden" name="image" value={pullReference} />}
    </>
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
