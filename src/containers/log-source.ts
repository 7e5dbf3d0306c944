import type { Deps } from '../deps.ts'
import { maskFor } from '../logs/secret-values.ts'
import type { Found } from './find.ts'
import type { LogSource } from './log-read.ts'

/** The log of a container; the secrets of its app or service are hidden in it, whoever reads. */
export function sourceOf(
  deps: Pick<Deps, 'db' | 'secrets' | 'serviceSecrets'>,
  { container, place }: Found,
): LogSource {
  const mask = place.kind === 'own' ? maskFor(deps, container) : (text: string) => text
  return { id: container.id, mask }
}
