import { z } from 'zod'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { componentOf, id, time } from '../web/operation.ts'
import type { ResourceTable } from './store.ts'

/**
 * The JSON of a row, under its name in the API document: its id, these columns, when it was created, and `more`,
 * which also describes columns with JSON.
 */
export const rowJson = <Table extends ResourceTable>(
  name: string,
  table: Table,
  columns: readonly (keyof Table['$inferSelect'] & string)[],
  more: () => z.ZodRawShape = () => ({}),
) =>
  componentOf(name, () => {
    const known = table as unknown as Record<string, SQLiteColumn>
    const of = (names: readonly string[]) =>
      Object.fromEntries(names.map((column) => [column, schemaOf(column, known[column]!)]))
    return { ...of(['id', ...columns]), ...more(), ...of(['createdAt']) } as z.ZodRawShape
  })

function schemaOf(name: string, { dataType, enumValues, notNull }: SQLiteColumn): z.ZodType {
  const text = /^id$|Id$/.test(name) ? id : z.string()
  const byType = { string: text, number: z.int(), boolean: z.boolean(), date: time }
  const schema = enumValues?.length
    ? z.enum(enumValues as [string, ...string[]])
    : byType[dataType as keyof typeof byType]
  return notNull ? schema : schema.nullable()
}
