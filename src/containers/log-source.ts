import type { Deps } from '../deps.ts'
import { maskFor } from '../logs/secret-values.ts'
import type { Found } from './find.ts'
import type { LogSource } from './log-read.ts'

/** The log of a container; the secrets of an app's environment are hidden in it, whoever reads. */
export function sourceOf(
  deps: Pick<Deps, 'db' | 'secrets'>,
  { container: { id, env }, place }: Found,
): LogSource {
  const environment = place.kind === 'own' ? place.environment : null
  if (!environment) return { id, mask: (text) => text }
  return { id, mask: maskFor(deps, { environmentId: environment.id, env }) }
}
