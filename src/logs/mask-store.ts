import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { services, variables } from '../db/schema.ts'
import type { Secrets } from '../platform/secrets.ts'
import { listPastSecrets } from './past-secret-store.ts'

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

/** What was sealed last; none when there is no such service. Throws when it can't be told. */
export function openServiceSecrets(
  { db, secrets }: { db: Db; secrets: Secrets },
  serviceId: string,
): string[] {
  const row = sealedOf(db, serviceId)
  return row ? JSON.parse(secrets.open(row.sealed ?? '', sealedSecrets(serviceId))) : []
}

/** Another text whenever the secrets of an environment or service, present or past, are others. */
export const secretsState = (db: Db, sourceId: string) =>
  [
    ...listSecretVariables(db, sourceId).map(({ id, key, version }) => `${id} ${key} ${version}`),
    sealedOf(db, sourceId)?.sealed?.slice(0, versionLength) ?? '',
    ...listPastSecrets(db, sourceId).map(({ id }) => id),
  ].join('\n')

const sealedSecrets = (serviceId: string) => `service secrets ${serviceId}`

const sealedOf = (db: Db, serviceId: string) =>
  db
    .select({ sealed: services.secretValues })
    .from(services)
    .where(eq(services.id, serviceId))
    .get()
