import type { Deps } from '../deps.ts'
import { openVariables } from '../environments/variable-store.ts'
import { masking } from './mask.ts'

/**
 * Hides the secret variables of an environment: as they are now, and as the container with that
 * `KEY=value` list still has them when they were changed since.
 */
export function maskFor(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  { environmentId, env }: { environmentId: string; env: string[] },
) {
  const variables = openVariables(db, secrets, environmentId).filter(({ secret }) => secret)
  const keys = new Set(variables.map(({ key }) => key))
  const given = env.flatMap((entry) => {
    const at = entry.indexOf('=')
    return keys.has(entry.slice(0, at)) ? [entry.slice(at + 1)] : []
  })
  return masking([...variables.map(({ value }) => value), ...given])
}
