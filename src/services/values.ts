import type { Db } from '../db/index.ts'
import { sealServiceSecrets } from '../logs/mask-store.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import type { Secrets } from '../platform/secrets.ts'
import { readAhead, secretsOf } from './definition.ts'
import type { Definition } from './definition.ts'
import { getSealedValues, listWithoutSecretValues, updateService } from './store.ts'

const sealedAs = (serviceId: string) => `service ${serviceId}`

/** The values of an instance's variables, for its row, and which of them are secret. */
export const sealValues = (
  { secrets }: { secrets: Secrets },
  definition: Pick<Definition, 'id' | 'template' | 'compose' | 'values'>,
) => ({
  values: secrets.seal(JSON.stringify([...definition.values]), sealedAs(definition.id)),
  secretValues: sealServiceSecrets(secrets, definition.id, secretsOf(definition)),
})

/** The values that an instance was made with. */
export function openValues(
  { db, secrets }: { db: Db; secrets: Secrets },
  { id, name }: { id: string; name: string },
): Map<string, string> {
  try {
    return new Map(JSON.parse(secrets.open(getSealedValues(db, id)!, sealedAs(id))))
  } catch (cause) {
    throw new Failure(
      'values_unreadable',
      `The values of the service ${name} can no longer be read.`,
      'Start Davit with the key that it had before: its key file, or DAVIT_SECRET_KEY.',
      { cause },
    )
  }
}

/**
 * Stores which values are secret where an earlier version did not. Of what can't be read, nothing is
 * known to be harmless: its logs stay hidden.
 */
export async function fillSecretValues(deps: { db: Db; secrets: Secrets }) {
  for (const service of listWithoutSecretValues(deps.db))
    try {
      const definition = { ...service, values: openValues(deps, service) }
      await readAhead(definition)
      const { secretValues } = sealValues(deps, definition)
      updateService(deps.db, service.id, { secretValues })
    } catch (error) {
      report('the secrets of a service are not known', error, { service: service.id })
    }
}
