import { Badge, RunBadge, StatusBadge } from '../web/status-badge.tsx'
import { EmptyState } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import type { User } from '../web/factory.ts'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import type { AppStep } from '../environments/app-steps.ts'
import type { Activity } from './activity.ts'

export const activityPath = '/settings/activity'

export const ActivityList = ({ items, user }: { items: Activity[]; user: User }) => (
  <SettingsList
    id="activity"
    aria-label="Activity"
    isLive
    about="Builds, deployments, runs and changes of all users that are queued or running."
    rows={items.map((item) => (
      <Row item={item} user={user} />
    ))}
    empty={
      <EmptyState title="Nothing is running">
        <p>
          Deployments, runs, starts of environments and services, and clean-ups appear here while
          they are queued or running.
        </p>
      </EmptyState>
    }
  />
)

const Row = ({ item, user }: { item: Activity; user: User }) => (
  <li class="row deployment-row" id={`activity-${item.id ?? item.kind}`}>
    <State item={item} />
    <div class="row-main">
      <strong>
        {item.path && item.owner.id === user.id ? (
          <a class="row-link" href={item.path}>
            <bdi>{item.name}</bdi>
          </a>
        ) : (
          <bdi>{item.name}</bdi>
        )}
      </strong>
      <p class="row-facts">
        <span>{titles[item.kind]}</span>
        <bdi>{item.owner.email}</bdi>
      </p>
    </div>
    <div class="row-actions">
      <PostForm action={cancelPath(item)} replaces="#activity" hx-swap="outerMorph">
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
  if (item.kind === 'run') return <RunBadge status={item.status} />
  if (item.kind !== 'environment' && item.kind !== 'clean-up')
    return <StatusBadge status={item.status} />
  const word = item.kind === 'environment' ? words[item.status] : 'Cleaning up'
  return <Badge word={word} tone="active" icon="loader-circle" />
}

const words: Record<AppStep, string> = {
  starting: 'Starting',
  restarting: 'Restarting',
  stopping: 'Stopping',
}

const titles: Record<Activity['kind'], string> = {
  deployment: 'Deployment',
  environment: 'Environment',
  run: 'Run',
  service: 'Service',
  'clean-up': 'Docker',
}

const cancelPath = ({ kind, id }: Activity) =>
  kind === 'clean-up' ? `${activityPath}/clean-up/cancel` : `${activityPath}/${kind}s/${id}/cancel`
