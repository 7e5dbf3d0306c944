import type { Deps } from '../deps.ts'
import { looksSecret } from './compose/variables.ts'
import { readAhead, secretsOf } from './definition.ts'
import { getService } from './store.ts'
import { openValues } from './values.ts'

/**
 * The values of a service that no log and no page may show: those that it has now, and what looks like
 * one in the environment (`KEY=value`) of a container, which may be older than the last change.
 */
export async function secretsOfService(
  deps: Pick<Deps, 'db' | 'secrets'>,
  id: string,
  env: string[],
): Promise<string[]> {
  const service = getService(deps.db, id)
  const definition = service && { ...service, values: openValues(deps, service) }
  if (definition) await readAhead(definition)
  const now = definition ? secretsOf(definition) : []
  const given = env.flatMap((entry) => {
    const at = entry.indexOf('=')
    const value = entry.slice(at + 1)
    return looksSecret(entry.slice(0, at)) && !isPlain.test(value) ? [value] : []
  })
  return [...now, ...given]
}

/** What is set beside secrets under names like theirs: switches, counts and paths of files. */
const isPlain = /^(true|false|none|\d{1,5}|\/.*)$/i
