import type { Db } from '../db/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { AppError } from '../platform/errors.ts'
import { getStatus, isEnded } from './store.ts'
import type { Run, RunStatus } from './store.ts'

/** The run must not have ended. Resolves when its container was removed. */
export async function cancelRun(
  { db, jobs }: { db: Db; jobs: Jobs },
  { run: { id, status }, by }: { run: Run; by: string },
) {
  if (isEnded(status)) throw nothingToCancel(status)
  await jobs.cancel([id], { by })
  const outcome = getStatus(db, id)
  if (outcome !== 'cancelled') throw nothingToCancel(outcome)
}

const nothingToCancel = (status: RunStatus) =>
  new AppError('conflict', `This run has already ended (${status}), so it can’t be cancelled.`)
