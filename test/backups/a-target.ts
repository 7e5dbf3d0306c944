import type { Db } from '../../src/db/index.ts'
import { newId } from '../../src/db/new-id.ts'
import { targets } from '../../src/db/schema.ts'

export function aTarget({ db }: { db: Db }, ownerId: string) {
  const id = newId()
  db.insert(targets)
    .values({ id, ownerId, name: `target ${id.slice(-4)}`, kind: 'rest', password: 'sealed' })
    .run()
  return id
}
