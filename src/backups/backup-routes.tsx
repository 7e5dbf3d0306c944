import type { Writable } from 'node:stream'
import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { getJob, listJobIds, proofsOf } from '../jobs/store.ts'
import { answerJobLog } from '../logs/answer-log.tsx'
import { jobLogQuery, shownQuery } from '../logs/forms.ts'
import type { ShownQuery } from '../logs/forms.ts'
import { lastLinesOf } from '../logs/read-log.ts'
import { AppError, Failure, invalidField } from '../platform/errors.ts'
import { aboutNew } from '../services/make.ts'
import { servicePath } from '../services/own-service.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { byteFile } from '../web/byte-file.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { pageOf, paged } from '../web/paging.ts'
import { shown } from '../web/operation.ts'
import { query } from '../web/query.ts'
import { awaitOrAccept, moveOn, show } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { ownFirst, userOf } from '../web/user-of.ts'
import { BackupPage } from './backup-page.tsx'
import { AllBackupsPage } from './backups-page.tsx'
import type { RouteDeps } from './deps.ts'
import { downloadQuery, restoreForm } from './forms.ts'
import { backupJson, restorePreview } from './json.ts'
import { insertProof } from './proof/proof-job.ts'
import { beginRestore, previewRestore, refuseUnusable } from './restore/begin.ts'
import { fileReader } from './read-file.ts'
import { hasTarget, openRepository, refuseWithoutTarget } from './repository.ts'
import { refuseRemoving, removeBackup } from './retention.ts'
import {
  findBackup,
  isBeforeRestore,
  isBeingProven,
  isBeingRestored,
  isStored,
  isEnded,
  isInUse,
  listRestores,
  logOf,
  pageOfBackups,
  workOf,
} from './store.ts'
import type { Backup } from './store.ts'
import { backupsPath, keyOf, subjectOf } from './subject.ts'
import { getTarget, listTargets } from './targets/store.ts'

/** A backup, whose subject may have been deleted, and the list of all. */
export const backupRoutes = (deps: RouteDeps) => {
  const { db } = deps
  const audit = auditor(db)
  const ownIt = ownFirst(own)

  return factory
    .createApp()
    .get('/backups', paged(), (c) => {
      const owner = userOf(c)
      const page = c.req.valid('query')
      const { items, nextCursor } = pageOf(pageOfBackups(db, { owner, ...page }), page)
      const targets = listTargets(db, owner.id)
      const isThere = (one: Backup) => subjectOf(db, one) !== undefined
      return show(c, {
        title: 'Backups',
        page: () => (
          <AllBackupsPage {...{ items, nextCursor, targets, isThere }} progress={deps.progress} />
        ),
        live: {},
        json: () => ({ items: items.map(jsonOf), nextCursor }),
      })
    })
    .get('/backups/:id', query(shownQuery), async (c) =>
      show(c, await view(c, c.req.valid('query'), emptyDraft)),
    )
    .get('/backups/:id/logs', ownIt, query(jobLogQuery), (c) => {
      const backup = own(c)
      return answerJobLog(c, deps, {
        log: logOf(backup),
        name: `backup-${backup.id}.log`,
        asked: c.req.valid('query'),
        statuses: {
          now: () => workOf(db, backup.id),
          isEnd: isEnded,
        },
      })
    })
    .get('/backups/:id/download', ownIt, query(downloadQuery), async (c) => {
      const backup = own(c)
      if (backup.subjectKind === 'davit') refuseDavit(c)
      const file = fileOf(backup, c.req.valid('query').file)
      refuseWithoutTarget(db, backup)
      const { streams } = deps
      const restic = await openRepository(deps, backup).catch(refuse)
      const read = fileReader(backup, restic)
      audit(c, 'backup.downloaded', about(backup))
      const write = (to: Writable, signal: AbortSignal) => read(file, to, signal)
      const name = `${backup.subjectName}-${file}${file === 'volumes' ? '.tar' : ''}`
      return byteFile(c, { name, streams, write }).catch(refuse)
    })
    .post('/backups/:id/cancel', async (c) => {
      const { id, status } = own(c)
      const more = isEnded(status) ? listUses(own(c)) : []
      const ids = more.length > 0 ? more : [id]
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
      if (!isStored(backup)) throw new AppError('conflict', 'Only a complete backup can be proven.')
      refuseWithoutTarget(db, backup)
      refuseRemoving(deps, backup)
      if (!insertProof(db, backup))
        throw new AppError('conflict', 'This backup is being proven already.')
      deps.jobs.wake()
      audit(c, 'backup.proved', about(backup))
      const said = 'The backup is being restored for a test.'
      return moveOn(c, { to: `/backups/${backup.id}`, said, json: () => jsonOf(backup) })
    })
    .get('/backups/:id/restore', async (c) => {
      const backup = own(c)
      refuseUnusable(deps, backup)
      const preview = await previewRestore(deps, backup)
      const { live, ...page } = await view(c, {}, emptyDraft)
      return show(c, { ...page, json: () => shown(restorePreview, preview) })
    })
    .post(
      '/backups/:id/restore',
      ownIt,
      input(restoreForm, (c, draft) => view(c, {}, draft)),
      async (c) => {
        const backup = own(c)
        const created = await beginRestore(deps, backup, {
          ...{ owner: userOf(c), input: c.var.input },
          also(service) {
            if (service) audit(c, 'service.created', aboutNew(service))
            audit(c, 'backup.restored', about(backup))
          },
        })
        deps.jobs.wake()
        const at = `/backups/${backup.id}`
        return moveOn(c, {
          to: at,
          created: created !== null,
          location: created ? servicePath(created) : at,
          said: created ? `Restore into ${created.name} queued.` : 'Restore queued.',
          json: () => jsonOf(own(c)),
        })
      },
    )
    .delete('/backups/:id', async (c) => {
      const backup = own(c)
      if (!isEnded(backup.status))
        throw new AppError('conflict', 'This backup hasn’t ended. Cancel it first.')
      refuseRemoving(deps, backup)
      if (isInUse(db, backup)) throw inUse(backup)
      if (isBeforeRestore(db, backup)) throw isWayBack()
      const signal = AbortSignal.any([deps.streams.shutdown, AbortSignal.timeout(removalTimeout)])
      audit(c, 'backup.deleted', about(backup))
      const said = hasTarget(db, backup)
        ? 'Backup deleted.'
        : 'Removed from the list. What the removed target has of it stays there.'
      await accepted(c, removeBackup(deps, backup, { signal }).catch(refuse))
      const to = subjectOf(db, backup) ? backupsPath(keyOf(backup)) : '/backups'
      return moveOn(c, { to, said, json: () => ({}) })
    })

  async function view(c: Context, chosen: ShownQuery, draft: Draft): Promise<View> {
    const backup = own(c)
    const title = `Backup of ${backup.subjectName}`
    const json = () => jsonOf(backup)
    // it may ask often, and needs none of what only the page shows
    if (clientOf(c) === 'program') return { title, json, page: () => <></> }
    const log = await lastLinesOf(deps, logOf(backup), chosen)
    const target = getTarget(db, { id: backup.targetId, ownerId: backup.ownerId })
    const progress = deps.progress.get(backup.id) ?? null
    const isCancelling = getJob(db, backup.id)?.cancelRequested === true
    const isThere = subjectOf(db, backup) !== undefined
    const isProving = isBeingProven(db, backup.id)
    const isRestoring = isBeingRestored(db, backup)
    const isUsable = isStored(backup) && backup.subjectKind !== 'davit' && target
    const preview = isUsable ? await previewRestore(deps, backup) : null
    return {
      title,
      page: () => (
        <BackupPage
          {...{ backup, target, progress, isCancelling, isThere, isProving, isRestoring }}
          {...{ log, draft, preview }}
        />
      ),
      json,
      live: { about: backup.id, isCarried: !isEnded(backup.status) || isProving || isRestoring },
    }
  }

  function inUse({ id }: Backup) {
    const how = isBeingProven(db, id) ? 'proven' : 'restored'
    return new AppError('conflict', `This backup is being ${how}. Cancel that first.`)
  }

  /** Ids of jobs that prove or restore it, and of the backup that such a restore waits for. */
  function listUses(backup: Backup) {
    const restores = listRestores(db, backup)
    const before = restores.length > 0 ? backup.restore?.before : null
    const proofs = listJobIds(db, { subjectIds: [proofsOf(backup.id)] })
    return [...proofs, ...restores, ...(before ? [before] : [])]
  }

  function own(c: Context) {
    return findBackup(db, { id: c.req.param('id')!, owner: userOf(c) })
  }

  function jsonOf(backup: Backup) {
    return backupJson(deps, backup)
  }

  function accepted(c: Context, work: Promise<unknown>) {
    const { acceptTimeout } = deps.config
    return awaitOrAccept(c, work, { acceptTimeout, at: `/backups/${c.req.param('id')}` })
  }
}

const isWayBack = () =>
  new AppError(
    'conflict',
    'This is the backup of what a restore is replacing. Delete it once that has ended.',
  )

/** Milliseconds for removing a backup from its target, which rewrites what it shares with others. */
const removalTimeout = 3_600_000

function fileOf(backup: Backup, file: string | null | undefined) {
  if (!isStored(backup)) throw new AppError('conflict', 'Only a complete backup can be downloaded.')
  const names = backup.files.map((one) => one.file)
  const chosen = file ?? (names.length === 1 ? names[0] : undefined)
  if (chosen !== undefined && names.includes(chosen)) return chosen
  throw invalidField('file', `must be one of ${names.join(', ')}.`)
}

/** It has the secrets of all users. */
function refuseDavit({ var: { token } }: Context<Env>) {
  if (token) throw new AppError('forbidden', 'No token may download a backup of Davit itself.')
}

const about = ({ id, subjectName: name }: Backup) => ({
  object: { kind: 'backup' as const, id, name },
})

function refuse(error: unknown): never {
  if (!(error instanceof Failure)) throw error
  throw new AppError('bad_gateway', `${error.message} ${error.hint}`, { cause: error })
}
