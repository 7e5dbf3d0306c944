import { asc, eq, inArray, or } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { pastSecrets } from '../db/schema.ts'
import type { Secrets } from '../platform/secrets.ts'

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
    const known = new Map(
      db
        .select({ id: pastSecrets.id, value: pastSecrets.value })
        .from(pastSecrets)
        .where(ofSource(sourceId))
        .orderBy(asc(pastSecrets.id))
        .all()
        .map(({ id, value }) => [secrets.open(value, contextOf(id)), id]),
    )
    const gone: string[] = []
    const rows = [...new Set(values)].map((value) => {
      const old = known.get(value)
      if (old) gone.push(old)
      const id = newId() // tells when it ended, too: it stands after those of all deployments until now
      known.delete(value)
      known.set(value, id) // the newest is the last
      return { ...source, id, value: secrets.seal(value, contextOf(id)), endedAt: new Date() }
    })
    let room = most.characters
    let count = 0
    for (const [value, id] of [...known].reverse())
      if ((room -= value.length) < 0 || ++count > most.values) gone.push(id)
    db.insert(pastSecrets).values(rows).run()
    db.delete(pastSecrets).where(inArray(pastSecrets.id, gone)).run()
  })

const ofSource = (sourceId: string) =>
  or(eq(pastSecrets.environmentId, sourceId), eq(pastSecrets.serviceId, sourceId))

/** Of an environment or service, in the order in which they ended. */
export const listPastSecrets = (db: Db, sourceId: string) =>
  db
    .select({ id: pastSecrets.id, endedAt: pastSecrets.endedAt })
    .from(pastSecrets)
    .where(ofSource(sourceId))
    .orderBy(asc(pastSecrets.id))
    .all()

export function openPastSecret({ db, secrets }: { db: Db; secrets: Secrets }, id: string) {
  const where = eq(pastSecrets.id, id)
  const row = db.select({ value: pastSecrets.value }).from(pastSecrets).where(where).get()
  return row ? secrets.open(row.value, contextOf(id)) : ''
}

const contextOf = (id: string) => `past secret ${id}`
