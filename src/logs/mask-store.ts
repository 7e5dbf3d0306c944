import { eq } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { services } from '../db/schema.ts'
import { listPastSecrets } from '../environments/past-secret-store.ts'
import { listSecretVariables } from '../environments/variable-store.ts'

/** Another text whenever the secrets of an environment or service, present or past, are others. */
export function secretsState(db: Db, sourceId: string) {
  const variables = listSecretVariables(db, sourceId)
  const service = db
    .select({ values: services.values })
    .from(services)
    .where(eq(services.id, sourceId))
    .get()
  const past = listPastSecrets(db, sourceId)
  return [
    ...variables.map(({ id, key, version }) => `${id} ${key} ${version}`),
    service?.values.slice(0, 16) ?? '', // the nonce that they are sealed with
    ...past.map(({ id }) => id),
  ].join('\n')
}
