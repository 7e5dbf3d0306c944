import type { Context } from 'hono'
import { asWriter } from '../db/queries.ts'
import { auditor } from '../audit/record.ts'
import { headOf } from '../environments/head.ts'
import { liveEnvironment, ownEnvironment } from '../environments/own-environment.ts'
import { nextTime } from '../platform/cron.ts'
import { AppError, found, invalidField } from '../platform/errors.ts'
import { completed, partial, refuseUnoffered } from '../resources/change.ts'
import { liveService, ownService, servicePattern } from '../services/own-service.ts'
import { clientOf } from '../web/client.ts'
import { ModalForm } from '../web/dialog.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { optionsOf } from '../web/labelled-fields.ts'
import { firstPage, pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { moveOn, show } from '../web/respond.tsx'
import { SchemaFields } from '../web/schema-fields.tsx'
import { ownFirst, pass, requireAdmin, userOf } from '../web/user-of.ts'
import { backupRoutes } from './backup-routes.tsx'
import { BackupsPage } from './backups-page.tsx'
import type { RouteDeps } from './deps.ts'
import { backupForm, planForm } from './forms.ts'
import { backupJson, planJson } from './json.ts'
import { noteUnplanned } from './notice.ts'
import { insertBackupJob } from './start.ts'
import { deletePlan, getPlan, listUnfinished, pageOfBackups, savePlan } from './store.ts'
import type { Backup } from './store.ts'
import { backupsPath, ofDavit, ofEnvironment, ofService } from './subject.ts'
import type { Subject } from './subject.ts'
import { listTargets } from './targets/store.ts'

/** Backups and their plan, of services, environments and Davit itself. */
export const backupsRoutes = (deps: RouteDeps) => {
  const { db, scheduler, jobs } = deps
  const audit = auditor(db)
  const app = factory.createApp()
  for (const [path, find, guard] of [
    [`${servicePattern}/backups`, serviceOf, pass],
    ['/envs/:envId/backups', environmentOf, pass],
    ['/settings/backups', davitOf, requireAdmin],
  ] as [string, typeof serviceOf, typeof pass][]) {
    const ownIt = ownFirst(find)
    const planView = (c: Context, draft: Draft) => viewOfPlan(c, find(c), draft)
    app
      .get(path, guard, paged(), (c) => show(c, list(c, find(c), c.req.valid('query'))))
      .post(
        path,
        guard,
        ownIt,
        input(backupForm, (c, draft) => list(c, find(c), firstPage, draft)),
        (c) => started(c, find(c, { forChange: true })),
      )
      .get(`${path}/plan`, guard, (c) => show(c, planView(c, emptyDraft)))
      .put(
        `${path}/plan`,
        guard,
        ownIt,
        input(planForm, planView, {
          sent: partial(planForm),
          complete(c, data) {
            const row = getPlan(db, find(c).id)
            return row ? completed({ kind: 'plan' }, { form: planForm, row }, data) : data
          },
        }),
        (c) => planned(c, find(c, { forChange: true })),
      )
      .delete(`${path}/plan`, guard, ownIt, (c) => {
        const subject = find(c)
        const plan = found('plan', getPlan(db, subject.id) ?? undefined)
        db.transaction(() => {
          deletePlan(db, plan.id)
          noteUnplanned(db, subject)
          audit(c, 'backups.unplanned', about(subject))
        })
        scheduler.wake()
        return moveOn(c, { to: backupsPath(subject), said: 'Plan removed.', json: () => ({}) })
      })
  }
  return app.route('/', backupRoutes(deps))

  function started(c: Context, subject: Subject) {
    const { targetId, hold } = c.get('input') as Partial<Backup>
    const plan = getPlan(db, subject.id)
    const targets = listTargets(db, subject.ownerId)
    const chosen = targetId ?? plan?.targetId ?? (targets.length === 1 ? targets[0]!.id : null)
    const target = targets.find(({ id }) => id === chosen)
    if (!target) throw noTarget(targets.length)
    const backup = asWriter(db, () => {
      if (listUnfinished(db, subject.id).length > 0) throw running(subject)
      const by = userOf(c).email
      const backup = insertBackupJob(db, { subject, by, targetId: target.id, hold })
      audit(c, 'backup.started', about(subject))
      return backup
    })
    jobs.wake()
    const to = `/backups/${backup.id}`
    return moveOn(c, { to, created: true, said: 'Backup queued.', json: () => jsonOf(backup) })
  }

  function planned(c: Context, subject: Subject) {
    const { ownerId } = subject
    const values = c.get('input') as typeof planForm._output
    refuseUnoffered({ targetId: optionsOf(listTargets(db, ownerId)) }, values)
    const nextAt = nextTime({ ...values, zone: values.zone ?? 'UTC' }, new Date())
    db.transaction(() => {
      savePlan(db, subject, { ...values, ownerId, nextAt })
      audit(c, 'backups.planned', about(subject))
    })
    scheduler.wake()
    const json = () => planOf(subject)
    return moveOn(c, { to: backupsPath(subject), said: 'Plan saved.', json })
  }

  function list(c: Context, subject: Subject, page: Page, draft = emptyDraft) {
    const { id, kind, ownerId } = subject
    const of = { id, kind }
    const user = userOf(c)
    const { items, nextCursor } = pageOf(pageOfBackups(db, { of, owner: user, ...page }), page)
    const plan = planOf(subject)
    const targets = listTargets(db, ownerId)
    const head = subject.kind === 'environment' ? headOf(deps, subject) : null
    return {
      title: `Backups of ${subject.name}`,
      page: () => (
        <BackupsPage
          {...{ subject, head, user, items, nextCursor, plan, targets, draft }}
          progress={deps.progress}
        />
      ),
      live: {},
      json: () => ({ plan, items: items.map(jsonOf), nextCursor }),
    }
  }

  function viewOfPlan(c: Context, subject: Subject, draft: Draft) {
    const plan = planOf(subject)
    if (!plan && clientOf(c) === 'program' && c.req.method === 'GET')
      throw new AppError('not_found', `${subject.name} has no backup plan.`)
    return {
      title: `Backup plan of ${subject.name}`,
      page: () => (
        <ModalForm
          title={['Backup plan of ', <bdi>{subject.name}</bdi>]}
          from={{ href: backupsPath(subject), name: 'Backups' }}
          action={`${backupsPath(subject)}/plan`}
          method="PUT"
          submit="Save plan"
          draft={draft}
          wide
        >
          <SchemaFields
            schema={planForm}
            values={plan ?? { schedule: '0 3 * * *' }}
            more={{ targetId: { options: optionsOf(listTargets(db, subject.ownerId)) } }}
          />
        </ModalForm>
      ),
      json: () => plan,
    }
  }

  function planOf({ id }: Subject) {
    const plan = getPlan(db, id)
    return plan && planJson(db, plan)
  }

  function jsonOf(backup: Backup) {
    return backupJson(deps, backup)
  }

  function serviceOf(c: Context, { forChange = false } = {}): Subject {
    return ofService((forChange ? liveService : ownService)(deps, c))
  }

  function davitOf(c: Context): Subject {
    return ofDavit(userOf(c).id)
  }

  function environmentOf(c: Context, { forChange = false } = {}): Subject {
    return ofEnvironment((forChange ? liveEnvironment : ownEnvironment)(deps, c))
  }
}

const about = ({ kind, id, name }: Subject) =>
  kind === 'davit' ? {} : { object: { kind, id, name } }

const noTarget = (count: number) =>
  count === 0
    ? new AppError('conflict', 'You have no target yet. Add one first, to which backups go.')
    : invalidField('targetId', 'must be the id of one of your targets.')

const running = ({ name }: Subject) =>
  new AppError('conflict', `A backup of ${name} hasn’t ended. Wait for it, or cancel it.`)
