import type { Child } from 'hono/jsx'
import { EnvironmentFrame } from '../environments/environment-frame.tsx'
import type { EnvironmentHead } from '../environments/head.ts'
import { serviceCrumbs } from '../services/own-service.ts'
import { EmptyState, MoreLink, PageHead, Trouble } from '../web/components.tsx'
import type { Draft } from '../web/draft.ts'
import type { User } from '../web/factory.ts'
import { FormError, SelectField } from '../web/fields-view.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsFrame } from '../web/settings-frame.tsx'
import { Ago, In, NextTimes } from '../web/times.tsx'
import { optionsOf } from '../web/labelled-fields.ts'
import { BackupRow } from './backup-row.tsx'
import type { Progress } from './deps.ts'
import type { ShownPlan } from './json.ts'
import type { Backup } from './store.ts'
import { backupsPath } from './subject.ts'
import type { Subject } from './subject.ts'
import type { TargetRow } from './targets/store.ts'

type ListProps = {
  items: Backup[]
  nextCursor: string | null
  targets: TargetRow[]
  progress: Map<string, Progress>
}

type Props = ListProps & {
  subject: Subject
  /** Only of an environment. */
  head: EnvironmentHead | null
  user: User
  plan: ShownPlan | null
  draft: Draft
}

export const BackupsPage = ({ subject, head, user, ...list }: Props) => {
  const content = <Backups subject={subject} {...list} />
  if (head)
    return (
      <EnvironmentFrame head={head} tab="backups">
        {content}
      </EnvironmentFrame>
    )
  if (subject.kind === 'davit')
    return (
      <SettingsFrame user={user} path="/settings/backups">
        {content}
      </SettingsFrame>
    )
  return (
    <>
      <PageHead title="Backups" doc="backups" crumbs={serviceCrumbs(subject)} />
      {content}
    </>
  )
}

type ContentProps = Omit<Props, 'head' | 'user'>

const Backups = (props: ContentProps) => {
  const { subject, items, nextCursor, targets } = props
  if (targets.length === 0 && items.length === 0)
    return (
      <EmptyState title="No target for backups yet">
        <p>
          A backup goes to a target: S3 storage, a server with SSH, or a rest-server. It is
          encrypted before it leaves this server.
        </p>
        <ButtonLink href="/settings/targets">Add target</ButtonLink>
      </EmptyState>
    )
  return (
    <>
      <PlanSection {...props} />
      <section aria-labelledby="backups-heading">
        <div class="section-head">
          <h2 id="backups-heading">Backups</h2>
          {targets.length > 0 && <BackUpNow {...props} />}
        </div>
        <Live id="backups">
          {items.length === 0 ? (
            <EmptyState title="No backups yet">
              <p>{whatIsStored[subject.kind]}</p>
            </EmptyState>
          ) : (
            <BackupList {...props} />
          )}
        </Live>
        <MoreLink href={backupsPath(subject)} nextCursor={nextCursor} />
      </section>
    </>
  )
}

const whatIsStored = {
  service:
    'A database is dumped by its own tool while it runs, with its tables and rows counted. Everything else is the content of its volumes.',
  environment:
    'A backup has the content of its volumes. Databases of a Compose file are dumped by their own tools.',
  davit: 'A backup has Davit’s database and key: all projects, settings, variables and users.',
}

const BackupList = ({
  items,
  targets,
  progress,
  nameOf,
}: ListProps & { nameOf?: (backup: Backup) => string }) => (
  <ul class="rows" aria-label="Backups">
    {items.map((backup) => (
      <BackupRow
        backup={backup}
        progress={progress.get(backup.id) ?? null}
        target={targets.find(({ id }) => id === backup.targetId)?.name}
        name={nameOf?.(backup)}
      />
    ))}
  </ul>
)

const BackUpNow = ({ subject, plan, targets, draft }: ContentProps) => (
  <PostForm action={backupsPath(subject)} class="form" draft={draft}>
    <FormError />
    {targets.length > 1 && (
      <SelectField
        name="target_id"
        label="Target"
        value={plan?.targetId}
        options={optionsOf(targets)}
      />
    )}
    <div class="form-actions start">
      <Button icon="database">Back up now</Button>
    </div>
  </PostForm>
)

const PlanSection = ({ subject, plan, targets }: ContentProps) => {
  const path = `${backupsPath(subject)}/plan`
  return (
    <Live as="section" id="backup-plan" aria-labelledby="plan-heading">
      <div class="section-head">
        <h2 id="plan-heading">Plan</h2>
        <div class="actions">
          {targets.length > 0 && (
            <ButtonLink icon={plan ? 'pencil' : 'plus'} variant="outline" opens={path}>
              {plan ? 'Edit plan' : 'Plan backups'}
            </ButtonLink>
          )}
          {plan && (
            <DeleteButton
              path={path}
              label="Remove plan"
              question={{
                text: 'Plan no more backups? Those that are there stay.',
                answer: 'Remove plan',
              }}
            >
              Remove
            </DeleteButton>
          )}
        </div>
      </div>
      {plan ? (
        <PlanFacts {...{ plan, targets }} />
      ) : (
        <p class="muted">No plan: it is only backed up when someone presses “Back up now”.</p>
      )}
    </Live>
  )
}

const PlanFacts = ({ plan, targets }: { plan: ShownPlan } & Pick<Props, 'targets'>) => {
  const { nextTimes: times } = plan
  return (
    <>
      {plan.overdue && (
        <Trouble title="Overdue">
          <p>
            The backup that was due <Ago at={plan.dueAt} /> didn’t succeed.
          </p>
        </Trouble>
      )}
      {times.length === 0 && (
        <p class="note">
          This plan is off: it backs up and removes nothing. Save it to turn it on.
        </p>
      )}
      {plan.problem && (
        <p class="note" dir="auto">
          {plan.problem.message}
        </p>
      )}
      <p class="row-facts">
        <span>
          <code>{plan.schedule}</code> {plan.zone}
        </span>
        {times[0] && (
          <span>
            next <In at={times[0]} />
          </span>
        )}
        <span>{keptOf(plan)}</span>
        <span>
          to <bdi>{targets.find(({ id }) => id === plan.targetId)?.name ?? 'a removed target'}</bdi>
        </span>
      </p>
      {times.length > 0 && <NextTimes times={times} />}
    </>
  )
}

function keptOf({ keepLast, keepDaily, keepWeekly, keepMonthly }: ShownPlan): Child {
  const kept = [
    keepLast > 0 && `the last ${keepLast}`,
    keepDaily > 0 && `${keepDaily} daily`,
    keepWeekly > 0 && `${keepWeekly} weekly`,
    keepMonthly > 0 && `${keepMonthly} monthly`,
  ].filter(Boolean)
  return kept.length > 0 ? `keeps ${kept.join(', ')}` : 'keeps all'
}

export const AllBackupsPage = ({
  isThere,
  ...list
}: ListProps & { isThere: (backup: Backup) => boolean }) => (
  <>
    <PageHead title="Backups" doc="backups" crumbs={[{ href: '/services', name: 'Services' }]} />
    <Live as="section" id="backups" aria-label="Backups">
      {list.items.length === 0 ? (
        <EmptyState title="No backups yet">
          <p>Open a service or an environment, and back it up on its tab Backups.</p>
        </EmptyState>
      ) : (
        <BackupList
          {...list}
          nameOf={(one) => `${one.subjectName}${isThere(one) ? '' : ' (deleted)'}`}
        />
      )}
    </Live>
    <MoreLink href="/backups" nextCursor={list.nextCursor} />
  </>
)
