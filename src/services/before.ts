import type { Db } from '../db/index.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Definition } from './definition.ts'
import { getSealedBefore } from './store.ts'
import type { Service } from './store.ts'

const sealedAs = (serviceId: string) => `service before ${serviceId}`

/** What an instance is made of, for its row or a job: a crash must take neither a change nor its undo along. */
export function sealDefinition(
  { secrets }: { secrets: Secrets },
  { id, name, version, compose, allowed, allowedBy, values, ports }: Definition,
) {
  const kept: Kept = { name, version, compose, allowed, allowedBy, values: [...values], ports }
  return secrets.seal(JSON.stringify(kept), sealedAs(id))
}

export function openDefinition(
  { secrets }: { secrets: Secrets },
  service: Service,
  sealed: string,
): Definition {
  const kept = JSON.parse(secrets.open(sealed, sealedAs(service.id))) as Kept
  return { ...service, ...kept, values: new Map(kept.values) }
}

/** What the instance was made of before the change that is under way; null while there is none. */
export function openBefore(
  deps: { db: Db; secrets: Secrets },
  service: Service,
): Definition | null {
  const sealed = getSealedBefore(deps.db, service.id)
  return sealed === null ? null : openDefinition(deps, service, sealed)
}

type Kept = Pick<Definition, 'name' | 'version' | 'compose' | 'allowed' | 'allowedBy' | 'ports'> & {
  values: [string, string][]
}
