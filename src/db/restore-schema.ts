import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { id } from './columns.ts'

/**
 * What ran when the backup was made that this database comes from. The next server looks for it on the
 * engine; a row goes once its containers were found, or are on their way again.
 */
export const broughtBack = sqliteTable('brought_back', {
  id: id(),
  kind: text({ enum: ['deployment', 'service'] }).notNull(),
  objectId: text().notNull(),
})
