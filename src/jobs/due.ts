import type { Db } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { nextTime } from '../platform/cron.ts'
import { pause } from '../platform/pause.ts'
import type { Periodic, Scheduler } from '../platform/scheduler.ts'
import { firstDue, getTimed, listDue, listPlanned, setTimed } from './due-store.ts'
import type { Row, Table } from './due-store.ts'

export type Timed<Of extends Table> = {
  table: Of
  begin: (row: Row<Of>, due: { isMissed: boolean }) => Begun<Of> | null
  /** Said in Davit's log when that throws. */
  failed: string
}

type Begun<Of extends Table> = {
  problem?: Row<Of>['problem']
  after?: () => void
}

/** Milliseconds after which a due time counts as missed: Davit was down, or the clock was put forward. */
const grace = 120_000

/** Milliseconds by which a clock that is put back repeats no time; further back it is corrected. */
const repeated = 3 * 3_600_000

/** Starts what is due, until the signal. Without rows it costs nothing. */
export function keepDue<Of extends Table>(
  { db, scheduler }: { db: Db; scheduler: Scheduler },
  timed: Timed<Of>,
  { signal }: { signal: AbortSignal },
) {
  let isPlanned = false
  const task: Periodic = {
    next(now, { wasSet }) {
      isPlanned &&= !wasSet
      return isPlanned ? firstDue(db, timed.table) : now
    },
    async run(now) {
      if (!isPlanned) await planAgain(db, timed.table, now)
      isPlanned = true
      await startDue(db, timed, new Date(now))
    },
    failed: timed.failed,
  }
  return scheduler.keep(task, { signal })
}

/** At Davit's start and when the clock was set: a time that was planned by another clock may be far away. */
export async function planAgain(db: Db, table: Table, now: number) {
  for (const row of listPlanned(db, table)) {
    await pause()
    if (row.nextAt!.getTime() <= now) continue // it is due
    const last = row.dueAt?.getTime() ?? 0
    const from = last > now && last - now <= repeated ? last : now
    const nextAt = nextTime(row, new Date(from))
    if (nextAt?.getTime() !== row.nextAt!.getTime()) setTimed(db, table, row.id, { nextAt })
  }
}

export async function startDue<Of extends Table>(db: Db, timed: Timed<Of>, now: Date) {
  for (const id of listDue(db, timed.table, now)) {
    await pause()
    start(db, timed, { id, now })
  }
}

/** The next time and what runs are stored together, so that no time is lost or runs twice. */
function start<Of extends Table>(
  db: Db,
  { table, begin }: Timed<Of>,
  { id, now }: { id: string; now: Date },
) {
  const begun = asWriter(db, () => {
    const row = getTimed(db, table, id)
    const dueAt = row?.nextAt
    if (!row || !dueAt || dueAt > now) return null
    const begun = begin(row, { isMissed: now.getTime() - dueAt.getTime() > grace })
    const { problem = null } = begun ?? {}
    const changes = begun ? { nextAt: nextTime(row, now), dueAt, problem } : { nextAt: null }
    setTimed(db, table, id, changes)
    return begun
  })
  begun?.after?.()
}
