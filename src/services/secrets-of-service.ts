import type { Deps } from '../deps.ts'
import { secretsOf } from './definition.ts'
import { getService } from './store.ts'
import { openValues } from './values.ts'

/** The values of a service that no log and no page may show; none once it was deleted. */
export function secretsOfService(deps: Pick<Deps, 'db' | 'secrets'>, id: string): string[] {
  const service = getService(deps.db, id)
  if (!service) return []
  return secretsOf({ ...service, values: openValues(deps, service) })
}
