import { integer, text } from 'drizzle-orm/sqlite-core'
import { newId } from './new-id.ts'

export const id = () => text().primaryKey().$defaultFn(newId)
export const time = () => integer({ mode: 'timestamp_ms' })
export const createdAt = () =>
  time()
    .notNull()
    .$defaultFn(() => new Date())
export const flag = () => integer({ mode: 'boolean' })
