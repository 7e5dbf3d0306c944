import { integer, text } from 'drizzle-orm/sqlite-core'
import { newId } from './new-id.ts'
import { getTableColumns } from 'drizzle-orm'
import type { InferInsertModel } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

export const id = () => text().primaryKey().$defaultFn(newId)
export const time = () => integer({ mode: 'timestamp_ms' })
export const createdAt = () =>
  time()
    .notNull()
    .$defaultFn(() => new Date())
export const flag = () => integer({ mode: 'boolean' })

/** The id of the parent row: this row is deleted with it. */
export const childOf = (parent: () => AnySQLiteColumn) =>
  text().notNull().references(parent, { onDelete: 'cascade' })

/** A form's changes to a row: undefined leaves a column as it is, null restores its default. */
export type Changes<Table extends SQLiteTable> = {
  [Field in keyof InferInsertModel<Table>]?: InferInsertModel<Table>[Field] | null | undefined
}

/** Replaces each null by the default of its column, which may be null. */
export function withDefaults<Table extends SQLiteTable>(table: Table, values: Changes<Table>) {
  const columns = getTableColumns(table)
  const stored = Object.entries(values).map(([field, value]) => [
    field,
    value === null ? (columns[field]?.default ?? null) : value,
  ])
  return Object.fromEntries(stored) as Partial<InferInsertModel<Table>>
}
