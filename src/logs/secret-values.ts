import type { Deps } from '../deps.ts'
import { openVariables } from '../environments/variable-store.ts'
import { masking } from './mask.ts'

/** Hides the secret variables of an environment; a service's own are in no environment. */
export function maskFor({ db, secrets }: Pick<Deps, 'db' | 'secrets'>, environmentId: string) {
  const variables = openVariables(db, secrets, environmentId)
  return masking(variables.filter(({ secret }) => secret).map(({ value }) => value))
}
