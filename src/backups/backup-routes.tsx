import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { getJob, listJobIds, proofsOf } from '../jobs/store.ts'
import { answerJobLog, tail } from '../logs/answer-log.tsx'
import { jobLogQuery, shownQuery } from '../logs/forms.ts'
import type { ShownQuery } from '../logs/forms.ts'
import { listLastLines } from '../logs/read-log.ts'
import { getExtent } from '../logs/store.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import { pageOf, paged } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { awaitOrAccept, moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { BackupPage } from './backup-page.tsx'
import { AllBackupsPage } from './backups-page.tsx'
import type { RouteDeps } from './deps.ts'
import { backupJson } from './json.ts'
import { insertProof } from './proof/proof-job.ts'
import { removeBackup } from './retention.ts'
import { findBackup, getBackup, isBeingProven, isEnded, logOf, pageOfBackups } from './store.ts'
import type { Backup } from './store.ts'
import { backupsPath, findSubject } from './subject.ts'
import { listTargets } from './targets/store.ts'

/** A backup, whose subject may have been deleted, and the list of all. */
export const backupRoutes = (deps: RouteDeps) => {
  const { db, logDb } = deps
  const audit = auditor(db)
  const ownFirst = factory.createMiddleware(async function checkBackup(c, next) {
    own(c)
    await next()
  })

  return factory
    .createApp()
    .get('/backups', paged(), (c) => {
      const { id: ownerId } = userOf(c)
      const page = c.req.valid('query')
      const { items, nextCursor } = pageOf(pageOfBackups(db, { ownerId, ...page }), page)
      const targets = listTargets(db, ownerId)
      const isThere = (one: Backup) => subjectOf(one) !== undefined
      return show(c, {
        title: 'Backups',
        page: () => (
          <AllBackupsPage {...{ items, nextCursor, targets, isThere }} progress={deps.progress} />
        ),
        live: {},
        json: () => ({ items: items.map(jsonOf), nextCursor }),
      })
    })
    .get('/backups/:id', query(shownQuery), (c) => one(c, c.req.valid('query')))
    .get('/backups/:id/logs', ownFirst, query(jobLogQuery), (c) => {
      const backup = own(c)
      return answerJobLog(c, deps, {
        log: logOf(backup),
        name: `backup-${backup.id}.log`,
        asked: c.req.valid('query'),
        statuses: {
          now: () => getBackup(db, backup.id)?.status ?? 'cancelled',
          isEnd: isEnded,
        },
      })
    })
    .post('/backups/:id/cancel', async (c) => {
      const { id, status } = own(c)
      const proofs = listJobIds(db, { subjectIds: [proofsOf(id)] })
      const ids = isEnded(status) && proofs.length > 0 ? proofs : [id]
      const work = deps.jobs.cancelFor(userOf(c).email, ids, {
        refusal: () => 'This backup has already ended, so it can’t be cancelled.',
      })
      audit(c, 'backup.cancelled', about(own(c)))
      await accepted(c, work)
      const said = 'It is being cancelled.'
      return moveOn(c, { to: `/backups/${id}`, said, json: () => jsonOf(own(c)) })
    })
    .post('/backups/:id/prove', (c) => {
      const backup = own(c)
      if (backup.status !== 'succeeded' || backup.goneAt)
        throw new AppError('conflict', 'Only a complete backup can be proven.')
      if (backup.subjectKind === 'davit')
        throw new AppError('conflict', 'A backup of Davit itself can’t be proven.')
      if (!insertProof(db, backup))
        throw new AppError('conflict', 'This backup is being proven already.')
      deps.jobs.wake()
      audit(c, 'backup.proved', about(backup))
      const said = 'The backup is being restored for a test.'
      return moveOn(c, { to: `/backups/${backup.id}`, said, json: () => jsonOf(backup) })
    })
    .delete('/backups/:id', async (c) => {
      const backup = own(c)
      if (!isEnded(backup.status))
        throw new AppError('conflict', 'This backup hasn’t ended. Cancel it first.')
      if (isBeingProven(db, backup.id))
        throw new AppError(
          'conflict',
          'This backup is being restored for a test. Cancel that first.',
        )
      const signal = AbortSignal.any([deps.streams.shutdown, AbortSignal.timeout(removalTimeout)])
      audit(c, 'backup.deleted', about(backup))
      await accepted(c, removeBackup(deps, backup, { signal }).catch(refuse))
      const to = subjectOf(backup) ? backupsPath(keyOf(backup)) : '/backups'
      return moveOn(c, { to, said: 'Backup deleted.', json: () => ({}) })
    })

  async function one(c: Context, chosen: ShownQuery) {
    const backup = own(c)
    const log = logOf(backup)
    const extent = getExtent(logDb, log)
    const lines = await listLastLines(deps, log, { ...tail, ...chosen })
    const target = listTargets(db, backup.ownerId).find(({ id }) => id === backup.targetId)
    const progress = deps.progress.get(backup.id) ?? null
    const isCancelling = getJob(db, backup.id)?.cancelRequested === true
    const isThere = subjectOf(backup) !== undefined
    const isProving = isBeingProven(db, backup.id)
    return show(c, {
      title: `Backup of ${backup.subjectName}`,
      page: () => (
        <BackupPage
          {...{ backup, target, progress, isCancelling, isThere, isProving, extent, lines, chosen }}
        />
      ),
      json: () => jsonOf(backup),
      live: { about: backup.id, isCarried: !isEnded(backup.status) || isProving },
    })
  }

  function own(c: Context) {
    return findBackup(db, { id: c.req.param('id')!, ownerId: userOf(c).id })
  }

  function subjectOf(backup: Backup) {
    return findSubject(db, { ...keyOf(backup), ownerId: backup.ownerId })
  }

  function jsonOf(backup: Backup) {
    return backupJson(deps, backup)
  }

  function accepted(c: Context, work: Promise<unknown>) {
    const { acceptTimeout } = deps.config
    return awaitOrAccept(c, work, { acceptTimeout, at: `/backups/${c.req.param('id')}` })
  }
}

/** Milliseconds for removing a backup from its target, which rewrites what it shares with others. */
const removalTimeout = 3_600_000

const keyOf = ({ subjectKind: kind, subjectId: id }: Backup) => ({ kind, id })

const about = ({ id, subjectName: name }: Backup) => ({
  object: { kind: 'backup' as const, id, name },
})

function refuse(error: unknown): never {
  if (!(error instanceof Failure)) throw error
  throw new AppError('bad_gateway', `${error.message} ${error.hint}`, { cause: error })
}
