import type { Db } from '../db/index.ts'
import { report } from '../platform/journal.ts'
import type { Secrets } from '../platform/secrets.ts'
import { listWithoutSecretValues, updateService } from './store.ts'

/**
 * Stores which values are secret for instances of earlier versions. If the values can't be read, none is
 * known to be harmless, so its logs stay hidden.
 */
export async function fillSecretValues(deps: { db: Db; secrets: Secrets }) {
  for (const service of listWithoutSecretValues(deps.db))
    try {
      const { definitionOf, sealValues } = await import('./stored-definition.ts')
      const { secretValues } = sealValues(deps, await definitionOf(deps, service))
      updateService(deps.db, service.id, { secretValues })
    } catch (error) {
      report('the secrets of a service are not known', error, { service: service.id })
    }
}
