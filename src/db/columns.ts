import { integer, text } from 'drizzle-orm/sqlite-core'

export const id = () => text().primaryKey().$defaultFn(Bun.randomUUIDv7)
export const time = () => integer({ mode: 'timestamp_ms' })
export const createdAt = () =>
  time()
    .notNull()
    .$defaultFn(() => new Date())
export const flag = () => integer({ mode: 'boolean' })
