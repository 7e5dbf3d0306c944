import { deploymentPath } from '../projects/deployment-list.tsx'
import { ProjectFrame } from '../projects/project-frame.tsx'
import { WebhookPanelLoader } from '../projects/webhook-panel.tsx'
import { Badge } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { CommitRef, EmptyState, MoreLink } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import { ImagePanel } from '../deployments/new-images/panel.tsx'
import type { ImageState } from '../deployments/new-images/panel.tsx'
import { titles } from '../git/providers/registry.ts'
import { branchOf } from './push.ts'
import { registryTitles } from './registry-notice.ts'
import { canReplay } from './replay.ts'
import type { Delivery, CreatedDeployment } from './store.ts'
import { WebhookSetup } from './webhook-setup.tsx'
import type { Receiver } from './webhook-setup.tsx'
import type { Project } from '../projects/store.ts'

type DeliveriesPageProps = {
  project: Project
  environments: { id: string; name: string }[]
  image: ImageState | null
  receivers: Receiver[]
  secret?: string | null
  items: Delivery[]
  nextCursor: string | null
  made: Map<string, CreatedDeployment>
  /** The names of the owner's projects of the repository, by id. */
  siblings: Map<string, string>
}

export const DeliveriesPage = ({
  project,
  environments,
  image,
  receivers,
  secret = null,
  items,
  nextCursor,
  made,
  siblings,
}: DeliveriesPageProps) => (
  <ProjectFrame project={project} tab="webhooks" environments={environments}>
    {project.sourceId && <WebhookPanelLoader project={project} />}
    {image && <ImagePanel project={project} state={image} />}
    <WebhookSetup project={project} receivers={receivers} secret={secret} />
    <div class="section-head">
      <h2>Deliveries</h2>
    </div>
    {items.length === 0 ? (
      <EmptyState title="Nothing delivered yet">
        <p>
          {image
            ? 'Add the webhook at the registry. Then push an image.'
            : 'Add the webhook at the provider. Then push to the repository, or send a test from the webhook’s page there.'}
        </p>
        <ButtonLink variant="outline" href="#webhook-setup">
          Set up webhook
        </ButtonLink>
      </EmptyState>
    ) : (
      <ol class="rows">
        {items.map((delivery) => (
          <Row
            delivery={delivery}
            siblings={siblings}
            deployments={delivery.deploymentIds.flatMap((id) => made.get(id) ?? [])}
            isReplayable={!project.deletingAt && canReplay(delivery)}
          />
        ))}
      </ol>
    )}
    <MoreLink href={`/projects/${project.id}/deliveries`} nextCursor={nextCursor} />
  </ProjectFrame>
)

type RowProps = Pick<DeliveriesPageProps, 'siblings'> & {
  delivery: Delivery
  deployments: CreatedDeployment[]
  isReplayable: boolean
}

const Row = ({ delivery, siblings, deployments, isReplayable }: RowProps) => (
  <li class="row deployment-row">
    <Badge {...looks[delivery.decision ?? 'ignored']} />
    <div class="row-main">
      <CommitRef hash={delivery.commitHash} message={delivery.commitMessage} />
      <p class="row-facts">
        <span>{{ ...titles, ...registryTitles }[delivery.provider]}</span>
        <bdi>{delivery.event || 'no event'}</bdi>
        {delivery.ref && <bdi>{branchOf({ ref: delivery.ref }) ?? delivery.ref}</bdi>}
        {delivery.provider in titles && (
          <span>{delivery.signatureOk ? 'signature valid' : 'signature invalid'}</span>
        )}
        {delivery.signedBy !== null && (
          <span>
            through the webhook of{' '}
            <bdi>{siblings.get(delivery.signedBy) ?? 'a deleted project'}</bdi>
          </span>
        )}
      </p>
      <p class="row-facts">
        {deployments.length === 0 ? <bdi>{delivery.reason}</bdi> : <span>Deployed to</span>}
        {deployments.map((deployment) => (
          <a href={deploymentPath(deployment)}>
            <bdi>{deployment.environment}</bdi>
          </a>
        ))}
      </p>
    </div>
    <div class="row-actions">
      {isReplayable && (
        <PostForm action={`/projects/${delivery.projectId}/deliveries/${delivery.id}/replay`}>
          <Button variant="outline" small>
            Replay
          </Button>
        </PostForm>
      )}
    </div>
    <p class="row-end">
      <Ago at={delivery.createdAt} />
    </p>
  </li>
)

const looks: Record<NonNullable<Delivery['decision']>, Look> = {
  deployed: { word: 'Deployed', tone: 'good', icon: 'check' },
  ignored: { word: 'Ignored', tone: 'quiet', icon: 'minus' },
  refused: { word: 'Refused', tone: 'bad', icon: 'x' },
  failed: { word: 'Failed', tone: 'bad', icon: 'x' },
}
