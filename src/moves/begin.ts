import { z } from 'zod'
import { asWriter } from '../db/queries.ts'
import { insertBackupFirst, requireTarget } from '../backups/backup-first.ts'
import type { RouteDeps } from '../backups/deps.ts'
import { workloadOf } from '../backups/subject.ts'
import { enqueue, refuseFrozen } from '../deployments/trigger.ts'
import { note } from '../deployments/trigger-forms.ts'
import { publishSuperseded } from '../deployments/waiting-store.ts'
import { setAfter } from '../jobs/after-store.ts'
import { getJob, hasJob } from '../jobs/store.ts'
import { AppError, conflictField, invalidField } from '../platform/errors.ts'
import { hasVolumes, volumesIn } from '../runtime/component.ts'
import { changeMove, getMove, storeMove } from '../runtime/move-store.ts'
import { settleMove } from '../runtime/moves.ts'
import { insertServiceJob } from '../services/service-jobs.ts'
import { flag, line } from '../web/fields.ts'
import { sizeOf, whatRuns, whyNotOn } from './preview.ts'
import type { Movable, PreviewDeps } from './preview.ts'

export const moveForm = z.object({
  server: line('a server', { max: 100 }),
  /** Only what has volumes is. */
  backupFirst: flag().nullish(),
  /** In a freeze, of an environment. */
  note: note(),
})

type BeginDeps = RouteDeps & PreviewDeps

type Request = { input: (typeof moveForm)['_output']; by: string; also: () => void }

/** Stores a move and its job, and `also` with it. Returns the job’s id. */
export async function beginMove(deps: BeginDeps, subject: Movable, { input, by, also }: Request) {
  const { db, serverList, jobs } = deps
  const { id, name } = subject
  const { components, from } = whatRuns(deps, subject)
  const { server: asked } = input
  const target = serverList.list().find((one) => one.id === asked || one.name === asked)
  if (!target) throw invalidField('server', 'must be one of the servers.')
  const { id: to } = target
  if (to === from) throw conflictField('server', `${name} is on ${target.name} already.`)
  const size = await sizeOf(deps, { volumes: volumesIn(components), serverId: from })
  const refused = await whyNotOn(deps, subject, { serverId: to, components, size })
  if (refused) throw conflictField('server', refused)
  const isCarried = hasVolumes(components)
  // what would be refused must not delete anything
  refuseBusy(deps, subject)
  if (input.backupFirst && isCarried) requireTarget(db, subject)
  if (subject.kind === 'environment')
    refuseFrozen(db, { project: subject.project, environmentId: id, note: input.note })
  await removeLeft(deps, subject)
  const { job, superseded } = asWriter(db, () => {
    refuseUnsettled(deps, subject)
    if (whatRuns(deps, subject).from !== from)
      throw new AppError('conflict', `${name} is on another server now. Look again, then move it.`)
    const backup = input.backupFirst && isCarried ? insertBackupFirst(db, subject, by) : null
    const begun = insertMoveJob(deps, subject, { by, after: backup, note: input.note })
    storeMove(db, id, {
      ...{ id: begun.job, from, to, by, at: new Date().toISOString(), status: 'pending' },
      ...{ outageMs: null, bytes: null, error: null, isDown: false },
      ...{ leftOn: null, leftUntil: null },
    })
    also()
    return begun
  })
  if (superseded) publishSuperseded(deps, superseded)
  jobs.wake()
  deps.scheduler.wake()
  return job
}

/** Milliseconds in which what an earlier move left is removed; if that is too short, it goes on later. */
const settleTimeout = 10_000

/** Removes what its last move has left, now or as soon as possible, and `also` with it. */
export async function removeLeft(deps: BeginDeps, subject: Movable, also = () => {}) {
  const { db, scheduler } = deps
  const move = getMove(db, subject.id)
  if (!move?.leftOn || getJob(db, move.id)) return
  db.transaction(() => {
    changeMove(db, subject.id, { leftUntil: null })
    also()
  })
  const signal = AbortSignal.timeout(settleTimeout)
  await settleMove(deps, workloadOf(subject)!, { signal }).catch((error) => {
    if (!signal.aborted) throw error
  })
  scheduler.wake()
}

function refuseBusy({ db }: BeginDeps, { id, name }: Movable) {
  if (hasJob(db, id))
    throw new AppError('conflict', `${name} is being changed. Wait until that has ended.`)
}

function refuseUnsettled(deps: BeginDeps, subject: Movable) {
  const { db, serverList } = deps
  refuseBusy(deps, subject)
  const { leftOn } = getMove(db, subject.id) ?? { leftOn: null }
  if (leftOn === null) return
  const server = serverList.list().find((one) => one.id === leftOn)?.name
  throw new AppError(
    'conflict',
    `What its last move left on ${server} isn’t deleted yet. Wait until that server responds and no backup of it runs, then move it.`,
  )
}

type JobOptions = { by: string; after: string | null; note: string | null | undefined }

function insertMoveJob({ db }: BeginDeps, subject: Movable, { by, after, note }: JobOptions) {
  if (subject.kind === 'service')
    return {
      job: insertServiceJob({ db }, subject.service, 'move', { after }).id,
      superseded: null,
    }
  const { project, environment } = subject
  const queued = enqueue(db, {
    ...{ project, environmentId: environment.id, trigger: 'manual', triggeredBy: by },
    ...{ reuseImage: true, isAsked: true, note },
  })
  const { id } = queued.deployment
  if (after) setAfter(db, id, after)
  return { job: id, superseded: queued }
}
