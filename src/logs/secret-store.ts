import { and, asc, eq, inArray, or, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { listRows, listValues } from '../db/queries.ts'
import { newId } from '../db/new-id.ts'
import { links, pastSecrets, services, variables } from '../db/schema.ts'
import type { Secrets } from '../platform/secrets.ts'

/** The start of an encrypted value: its nonce, which differs after every change. */
const versionLength = 16

/** The secret variables of an environment. `version` differs after every change of the value. */
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

/** The additional data with which a secret variable's value is encrypted. */
export const sealedVariable = (id: string) => `variable ${id}`

/** Empty when the variable was deleted. */
export function openSecretVariable({ db, secrets }: { db: Db; secrets: Secrets }, id: string) {
  const [value] = listValues(db, variables.value, and(eq(variables.id, id), variables.secret))
  return value === undefined ? '' : secrets.open(value, sealedVariable(id))
}

/** Encrypts the values of a service that no log may show, for its row. */
export const sealServiceSecrets = (secrets: Secrets, serviceId: string, values: string[]) =>
  secrets.seal(JSON.stringify(values), sealedSecrets(serviceId))

/** Empty when there is no such service. Throws when the values can't be decrypted. */
export function openServiceSecrets(
  { db, secrets }: { db: Db; secrets: Secrets },
  serviceId: string,
): string[] {
  const sealed = sealedOf(db, serviceId)
  return sealed === undefined
    ? []
    : JSON.parse(secrets.open(sealed ?? '', sealedSecrets(serviceId)))
}

/** The ids whose secrets may be in a log: the environment or service itself, and linked services. */
export const secretSources = (db: Db, sourceId: string) => [
  sourceId,
  ...listValues(db, links.serviceId, eq(links.environmentId, sourceId)),
]

/** Changes whenever the present or former secrets of an environment or service change. */
export const secretsState = (db: Db, sourceId: string) =>
  [
    ...listSecretVariables(db, sourceId).map(({ id, key, version }) => `${id} ${key} ${version}`),
    ...secretSources(db, sourceId).flatMap((id) => [
      id,
      sealedOf(db, id)?.slice(0, versionLength) ?? '',
      ...listPastSecrets(db, id).map((past) => past.id),
    ]),
  ].join('\n')

const sealedSecrets = (serviceId: string) => `service secrets ${serviceId}`

const sealedOf = (db: Db, serviceId: string) =>
  listValues(db, services.secretValues, eq(services.id, serviceId))[0]

/** The former owner. */
type Owner = { environmentId: string } | { serviceId: string }

/** Maximums for one environment or service; the oldest are forgotten first. */
const maxSecrets = { values: 500, characters: 250_000 }

/** Stores values that cease to be secret, encrypted, so that they stay masked in what was written before. */
export const rememberSecrets = (
  { db, secrets }: { db: Db; secrets: Secrets },
  source: Owner,
  values: string[],
) =>
  db.transaction(() => {
    const [sourceId] = Object.values(source) as [string]
    const known = new Map(
      listRows(db, pastSecrets, ofSource(sourceId), asc(pastSecrets.id)).map(({ id, value }) => [
        secrets.open(value, contextOf(id)),
        id,
      ]),
    )
    const gone: string[] = []
    const rows = [...new Set(values)].map((value) => {
      const old = known.get(value)
      if (old) gone.push(old)
      const id = newId() // also the end time: later than the ids of all deployments so far
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

/** In the order in which they ceased to be secret. */
export const listPastSecrets = (db: Db, sourceId: string) =>
  db
    .select({ id: pastSecrets.id, endedAt: pastSecrets.endedAt })
    .from(pastSecrets)
    .where(ofSource(sourceId))
    .orderBy(asc(pastSecrets.id))
    .all()

export function openPastSecret({ db, secrets }: { db: Db; secrets: Secrets }, id: string) {
  const [value] = listValues(db, pastSecrets.value, eq(pastSecrets.id, id))
  return value === undefined ? '' : secrets.open(value, contextOf(id))
}

/**
 * Call it in a transaction, before environments are unlinked from a service (by default all). Remembers its
 * present and former secrets for them, since their containers and logs may contain these.
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

/** Skips values that can't be decrypted, since no app received them. */
function readableSecrets(deps: { db: Db; secrets: Secrets }, serviceId: string) {
  try {
    return openServiceSecrets(deps, serviceId)
  } catch {
    return []
  }
}

const contextOf = (id: string) => `past secret ${id}`
