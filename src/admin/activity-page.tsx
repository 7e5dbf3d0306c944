import { Badge, StatusBadge } from '../web/status-badge.tsx'
import { EmptyState } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { SpinnerIcon } from '../web/icons.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import type { Activity } from './activity.ts'

export const activityPath = '/settings/activity'

/** Looks again every few seconds. */
export const ActivityList = ({ items }: { items: Activity[] }) => (
  <SettingsList
    id="activity"
    aria-label="Activity"
    hx-get={activityPath}
    hx-trigger="every 3s"
    hx-target="this"
    hx-swap="outerMorph"
    about="Builds, deployments and changes of all users that wait or are at work."
    rows={items.map((item) => (
      <Row item={item} />
    ))}
    empty={
      <EmptyState title="Nothing is at work">
        <p>Deployments, starts of services and clean-ups appear here while they last.</p>
      </EmptyState>
    }
  />
)

const Row = ({ item }: { item: Activity }) => (
  <li class="row deployment-row" id={`activity-${item.id ?? item.kind}`}>
    <State item={item} />
    <div class="row-main">
      <strong>
        <bdi>{item.name}</bdi>
      </strong>
      <p class="row-facts">
        <span>{titles[item.kind]}</span>
        <bdi>{item.owner.email}</bdi>
      </p>
    </div>
    <div class="row-actions">
      <PostForm
        action={cancelPath(item)}
        live
        hx-target="#activity"
        hx-swap="outerMorph"
        hx-disable="find button"
      >
        <Button variant="outline" small aria-label={`Cancel ${item.name} of ${item.owner.email}`}>
          Cancel
        </Button>
      </PostForm>
    </div>
    <p class="row-end">
      <Ago at={item.since} />
    </p>
  </li>
)

const State = ({ item }: { item: Activity }) => {
  if (item.kind !== 'clean-up') return <StatusBadge status={item.status} />
  return <Badge word="Cleaning up" tone="active" icon={SpinnerIcon} />
}

const titles: Record<Activity['kind'], string> = {
  deployment: 'Deployment',
  service: 'Service',
  'clean-up': 'Docker',
}

const cancelPath = ({ kind, id }: Activity) =>
  kind === 'clean-up' ? `${activityPath}/clean-up/cancel` : `${activityPath}/${kind}s/${id}/cancel`
