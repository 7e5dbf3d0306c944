import { and, asc, eq, inArray, or, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { listValues } from '../db/queries.ts'
import { newId } from '../db/new-id.ts'
import { links, pastSecrets, services, variables } from '../db/schema.ts'
import type { Secrets } from '../platform/secrets.ts'

/** Beginning of a sealed value: the nonce that it is sealed with, another one after every change. */
const versionLength = 16

/** The secret variables of an environment; `version` is another one after every change of the value. */
export const listSecretVariables = (db: Db, environmentId: string) =>
  db
    .select({
      id: variables.id,
      key: variables.key,
      version: sql<string>`substr(${variables.value}, 1, ${versionLength})`,
    })
    .from(variables)
    .where(and(eq(variables.environmentId, environmentId), variables.secret))
    .orderBy(asc(variables.id))
    .all()

/** What the value of a secret variable is sealed as. */
export const sealedVariable = (id: string) => `variable ${id}`

/** The value of a secret variable; empty when it was deleted. */
export function openSecretVariable({ db, secrets }: { db: Db; secrets: Secrets }, id: string) {
  const where = and(eq(variables.id, id), variables.secret)
  const row = db.select({ value: variables.value }).from(variables).where(where).get()
  return row ? secrets.open(row.value, sealedVariable(id)) : ''
}

/** Those of the values of a service that no log may show, for its row. */
export const sealServiceSecrets = (secrets: Secrets, serviceId: string, values: string[]) =>
  secrets.seal(JSON.stringify(values), sealedSecrets(serviceId))

/** What was sealed last; none when there is no such service. Throws when it can't be read. */
export function openServiceSecrets(
  { db, secrets }: { db: Db; secrets: Secrets },
  serviceId: string,
): string[] {
  const row = sealedOf(db, serviceId)
  return row ? JSON.parse(secrets.open(row.sealed ?? '', sealedSecrets(serviceId))) : []
}

/** The ids under which the secrets are that something may write: its own, and the services linked to it. */
export const secretSources = (db: Db, sourceId: string) => [
  sourceId,
  ...listValues(db, links.serviceId, eq(links.environmentId, sourceId)),
]

/** Another text whenever the secrets of an environment or service, present or past, are others. */
export const secretsState = (db: Db, sourceId: string) =>
  [
    ...listSecretVariables(db, sourceId).map(({ id, key, version }) => `${id} ${key} ${version}`),
    ...secretSources(db, sourceId).flatMap((id) => [
      id,
      sealedOf(db, id)?.sealed?.slice(0, versionLength) ?? '',
      ...listPastSecrets(db, id).map((past) => past.id),
    ]),
  ].join('\n')

const sealedSecrets = (serviceId: string) => `service secrets ${serviceId}`

const sealedOf = (db: Db, serviceId: string) =>
  db
    .select({ sealed: services.secretValues })
    .from(services)
    .where(eq(services.id, serviceId))
    .get()

/** Whose they were. */
type Owner = { environmentId: string } | { serviceId: string }

/** Of one environment or service; what ended longest ago is forgotten first. */
const maxSecrets = { values: 500, characters: 250_000 }

/** Remembers values that cease to be secret, sealed, so that what was written while they were stays masked. */
export const rememberSecrets = (
  { db, secrets }: { db: Db; secrets: Secrets },
  source: Owner,
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
      const id = newId() // also its end time: it stands after those of all deployments until now
      known.delete(value)
      known.set(value, id) // the newest is the last
      return { ...source, id, value: secrets.seal(value, contextOf(id)), endedAt: new Date() }
    })
    let room = maxSecrets.characters
    let count = 0
    for (const [value, id] of [...known].reverse())
      if ((room -= value.length) < 0 || ++count > maxSecrets.values) gone.push(id)
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

/**
 * In a transaction: remembers for environments what was or is secret of a service that they will no
 * longer be linked to, by default all of them: their containers and logs may have it.
 */
export function rememberLinked(
  deps: { db: Db; secrets: Secrets },
  {
    serviceId,
    environmentIds = listValues(deps.db, links.environmentId, eq(links.serviceId, serviceId)),
  }: { serviceId: string; environmentIds?: string[] },
) {
  const past = listPastSecrets(deps.db, serviceId).map(({ id }) => openPastSecret(deps, id))
  const values = [...past, ...readableSecrets(deps, serviceId)]
  if (values.length === 0) return
  for (const environmentId of environmentIds) rememberSecrets(deps, { environmentId }, values)
}

/** Values that can't be read were given to no app. */
function readableSecrets(deps: { db: Db; secrets: Secrets }, serviceId: string) {
  try {
    return openServiceSecrets(deps, serviceId)
  } catch {
    return []
  }
}

const contextOf = (id: string) => `past secret ${id}`
