import { eq, getTableColumns } from 'drizzle-orm'
import type { Db } from '../../db/index.ts'
import { getRow, listRows } from '../../db/queries.ts'
import { backups, environments, services, targets } from '../../db/schema.ts'
import { changeOwned } from '../../resources/store.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { findSubject } from '../subject.ts'
import type { Subject } from '../subject.ts'
import { sealedOfTarget } from '../targets/store.ts'
import type { TargetRow } from '../targets/store.ts'

export const getTargetById = (db: Db, id: string) => getRow(db, targets, eq(targets.id, id))

export const listAllTargets = (db: Db): TargetRow[] => listRows(db, targets, undefined)

/** All services and environments that aren’t being deleted. */
export function listSubjects(db: Db): Subject[] {
  const keys = [
    ...listRows(db, services, undefined).map(
      ({ id, ownerId }) => ({ kind: 'service', id, ownerId }) as const,
    ),
    ...listRows(db, environments, undefined).map(
      ({ id }) => ({ kind: 'environment', id, ownerId: '' }) as const,
    ),
  ]
  return keys.flatMap((key) => findSubject(db, key) ?? [])
}

/** Stores one that only the target knew. */
export function importBackup(db: Db, values: typeof backups.$inferInsert) {
  const { id: _, ...set } = values
  db.insert(backups).values(values).onConflictDoUpdate({ target: backups.id, set }).run()
}

const kept = ['id', 'ownerId', 'name', 'password', 'createdAt']

/** The same target at this place, with its own key. Fields of another kind are emptied. */
export function setPlace(
  db: Db,
  { secrets, row, place }: { secrets: Secrets; row: TargetRow; place: Partial<TargetRow> },
) {
  const names = Object.keys(getTableColumns(targets)).filter((name) => !kept.includes(name))
  const values = names.map((name) => [name, place[name as keyof TargetRow] ?? null])
  const stored = { ...sealedOfTarget, table: targets }
  changeOwned({ db, secrets }, stored, { ...row, values: Object.fromEntries(values) })
}
