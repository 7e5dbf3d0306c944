import { and, eq, ne, notInArray } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { withDefaults } from '../db/columns.ts'
import { listRows } from '../db/queries.ts'
import { schedules } from '../db/schema.ts'
import type { CodeSettings } from '../db/schema.ts'
import { nextTime } from '../platform/cron.ts'

/** The schedules of the live commit replace those of the one before. One that was paused stays so. */
export function applySchedules(db: Tx, environmentId: string, code: CodeSettings | null) {
  const wanted = code?.settings.schedules ?? []
  const isFromCode = and(eq(schedules.environmentId, environmentId), ne(schedules.file, ''))
  const known = new Map(listRows(db, schedules, isFromCode).map((row) => [row.name, row]))
  const names = wanted.map(({ name }) => name)
  db.delete(schedules)
    .where(and(isFromCode, notInArray(schedules.name, names)))
    .run()
  for (const { zone = null, overlap = null, missed = null, timeout = null, ...one } of wanted) {
    const values = withDefaults(schedules, { ...one, zone, overlap, missed, timeout })
    const row = known.get(one.name)
    const time = { schedule: one.schedule, zone: zone ?? 'UTC' }
    const isSame = row?.schedule === time.schedule && row.zone === time.zone
    const nextAt = row?.enabled === false ? null : isSame ? row.nextAt : nextTime(time, new Date())
    const stored = { ...values, file: code!.file, nextAt }
    if (row) db.update(schedules).set(stored).where(eq(schedules.id, row.id)).run()
    else
      db.insert(schedules)
        .values({ ...one, ...stored, environmentId })
        .run()
  }
}
