import { drizzle } from 'drizzle-orm/bun-sqlite'
import { openDatabase, openLogDatabase } from '../../src/db/index.ts'
import type { Db, LogDb } from '../../src/db/index.ts'
import * as logSchema from '../../src/db/log-schema.ts'
import { ReservedDatabase } from '../../src/db/reserved-database.ts'
import * as schema from '../../src/db/schema.ts'

let template: { db: Uint8Array; logDb: Uint8Array } | undefined

/** A state and a log database in memory, as new: copies of two that have gone through all migrations once. */
export function newDatabases(): { db: Db; logDb: LogDb } {
  template ??= {
    db: openDatabase(':memory:').$client.serialize(),
    logDb: openLogDatabase(':memory:').$client.serialize(),
  }
  return openCopies(template)
}

const openCopies = (files: { db: Uint8Array; logDb: Uint8Array }) => ({
  db: drizzle(copyOf(files.db), { schema, casing: 'snake_case' }),
  logDb: drizzle(copyOf(files.logDb), { schema: logSchema, casing: 'snake_case' }),
})

/** As they are on the disk at this moment. */
export const copiesOf = ({ db, logDb }: { db: Db; logDb: LogDb }) =>
  openCopies({ db: db.$client.serialize(), logDb: logDb.$client.serialize() })

function copyOf(template: Uint8Array) {
  // the constructor takes what was serialized, as `Database.deserialize` does, which makes no subclass
  const file = new ReservedDatabase(template as never, { strict: true })
  file.run('PRAGMA foreign_keys = ON')
  return file
}
