import type { LogDb } from '../db/index.ts'
import type { HeadDeps } from '../environments/head.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { ChangeFeed } from '../live/change-feed.ts'
import type { StreamDeps } from '../logs/answer-log.tsx'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import type { MoveDeps } from '../runtime/moves.ts'
import type { Restic, ResticDeps } from './restic/restic.ts'
import type { TargetRow } from './targets/store.ts'

/** What was read of a file so far; the total is null while it isn’t known, as for a dump. */
export type Progress = { file: string; bytes: number; total: number | null }

export type BackupDeps = MoveDeps & {
  logDb: LogDb
  logs: Logs
  masks: Masks
  jobs: Jobs
  scheduler: Scheduler
  changes: ChangeFeed
  /** Of running backups, by id. */
  progress: Map<string, Progress>
  /** Ids of backups that are being removed from their target. After a kill each is there as before. */
  removing: Set<string>
  openRestic: (
    target: TargetRow,
    options?: Pick<ResticDeps, 'say' | 'isUncached' | 'inOne'>,
  ) => Promise<Restic>
}

export type RouteDeps = BackupDeps & StreamDeps & HeadDeps
