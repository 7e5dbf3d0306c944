import { asc, eq, or } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { pastSecrets } from '../db/schema.ts'
import type { Secrets } from '../secrets.ts'

/** Whose they were. */
type Source = { environmentId: string } | { serviceId: string }

/** Of one environment or service; what ended longest ago is forgotten first. */
const most = { values: 500, characters: 250_000 }

/** Remembers values that cease to be secret, sealed, so that what was written while they were stays masked. */
export const rememberSecrets = (
  { db, secrets }: { db: Db; secrets: Secrets },
  source: Source,
  values: string[],
) =>
  db.transaction(() => {
    const [sourceId] = Object.values(source) as [string]
    const known = new Map<string, string>()
    for (const { id } of listPastSecrets(db, sourceId))
      known.set(openPastSecret({ db, secrets }, id), id)
    for (const value of new Set(values)) {
      const old = known.get(value)
      if (old) forget(db, old)
      const id = newId() // tells when it ended, too: it stands after those of all deployments until now
      const sealed = secrets.seal(value, contextOf(id))
      db.insert(pastSecrets)
        .values({ ...source, id, value: sealed, endedAt: new Date() })
        .run()
      known.delete(value)
      known.set(value, id) // the newest is the last
    }
    let room = most.characters
    let count = 0
    for (const [value, id] of [...known].reverse())
      if ((room -= value.length) < 0 || ++count > most.values) forget(db, id)
  })

const forget = (db: Db, id: string) => db.delete(pastSecrets).where(eq(pastSecrets.id, id)).run()

/** Of an environment or service, in the order in which they ended. */
export const listPastSecrets = (db: Db, sourceId: string) =>
  db
    .select({ id: pastSecrets.id, endedAt: pastSecrets.endedAt })
    .from(pastSecrets)
    .where(or(eq(pastSecrets.environmentId, sourceId), eq(pastSecrets.serviceId, sourceId)))
    .orderBy(asc(pastSecrets.id))
    .all()

export function openPastSecret({ db, secrets }: { db: Db; secrets: Secrets }, id: string) {
  const where = eq(pastSecrets.id, id)
  const row = db.select({ value: pastSecrets.value }).from(pastSecrets).where(where).get()
  return row ? secrets.open(row.value, contextOf(id)) : ''
}

const contextOf = (id: string) => `past secret ${id}`
