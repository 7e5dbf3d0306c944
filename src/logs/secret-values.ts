import type { Deps } from '../deps.ts'
import type { Container } from '../docker/index.ts'
import { openVariables } from '../environments/variable-store.ts'
import { readLabels } from '../projects/labels.ts'
import { masking } from './mask.ts'

type SecretDeps = Pick<Deps, 'db' | 'secrets' | 'serviceSecrets'>

/**
 * Hides the secrets of what a container of ours belongs to, as they are now, and as the container still
 * has them when they were changed since.
 */
export function maskFor(deps: SecretDeps, { labels, env }: Pick<Container, 'labels' | 'env'>) {
  const { serviceId, environmentId } = readLabels(labels)
  if (serviceId) return masking(deps.serviceSecrets(serviceId, env))
  return masking(environmentId ? environmentSecrets(deps, { environmentId, env }) : [])
}

function environmentSecrets(
  { db, secrets }: SecretDeps,
  { environmentId, env }: { environmentId: string; env: string[] },
) {
  const variables = openVariables(db, secrets, environmentId).filter(({ secret }) => secret)
  const keys = new Set(variables.map(({ key }) => key))
  const given = env.flatMap((entry) => {
    const at = entry.indexOf('=')
    return keys.has(entry.slice(0, at)) ? [entry.slice(at + 1)] : []
  })
  return [...variables.map(({ value }) => value), ...given]
}
