import { findSubject } from '../backups/subject.ts'
import type { Db } from '../db/index.ts'
import { isEngineSilent } from '../docker/failures.ts'
import { hasJob, insertJob } from '../jobs/store.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { report } from '../platform/journal.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import { removeBackupContainers } from '../runtime/backup-containers.ts'
import { changeMove, getMove, listUnsettled } from '../runtime/move-store.ts'
import { settleMove } from '../runtime/moves.ts'

type KeepDeps = RuntimeDeps & { scheduler: Scheduler; jobs: Jobs }

type Options = { signal: AbortSignal }

/** Milliseconds until what couldn’t be removed, such as on a server that is away, is tried again. */
const retryDelay = 60_000

/** Removes what moves have left once it is due, and starts what their servers’ ends have left down. */
export function keepMoves(deps: KeepDeps, options: Options) {
  let triedAt: number | null = null
  return deps.scheduler.keep(
    {
      next(now, { wasSet }) {
        if (triedAt === null) return now
        if (wasSet) triedAt = Math.min(triedAt, now)
        const earliest = triedAt + retryDelay
        const dues = listUnsettled(deps.db).map(({ move }) =>
          move.isDown ? earliest : Math.max(earliest, Date.parse(move.leftUntil ?? move.at)),
        )
        return dues.length > 0 ? Math.min(...dues) : null
      },
      async run(now) {
        triedAt = now
        await settleMoves(deps, options)
      },
      failed: 'what moves left may still be on a server',
    },
    options,
  )
}

export async function settleMoves(deps: KeepDeps, options: Options) {
  const { db, engines, jobs } = deps
  const attempt = (work: () => Promise<void>) =>
    work().catch((error) => {
      if (options.signal.aborted || isEngineSilent(error)) return
      report('what a move left may still be on a server', error)
    })
  for (const docker of engines.all.slice(1))
    if (!engines.isAway(docker))
      await attempt(() => removeBackupContainers({ ...deps, docker }, options))
  for (const { id, isService, move } of listUnsettled(db)) {
    await attempt(() => settleMove(deps, { id, kind: isService ? 'service' : 'app' }, options))
    if (move.isDown && !engines.isAway({ serverId: move.from })) startAgain(db, { id, isService })
  }
  jobs.wake()
}

/** Unless something else is done to it. */
const startAgain = (db: Db, { id, isService }: { id: string; isService: boolean }) =>
  db.transaction(() => {
    const kind = isService ? 'service' : 'environment'
    const subject = findSubject(db, { kind, id, ownerId: '' })
    if (!getMove(db, id)?.isDown) return
    changeMove(db, id, { isDown: false })
    if (!subject || hasJob(db, id)) return
    const of = { subjectId: id, ownerId: subject.ownerId }
    insertJob(
      db,
      isService ? { ...of, kind: 'start', slot: 'service' } : { ...of, kind: 'start-app' },
    )
  })
