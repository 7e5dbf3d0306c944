import type { Deps } from '../deps.ts'
import type { Definition } from './definition.ts'
import { getSealedBefore } from './store.ts'
import type { Service } from './store.ts'

const sealedAs = (serviceId: string) => `service before ${serviceId}`

/** What an instance was made of before a change, for its row: a crash must not take the undo along. */
export function sealBefore(
  { secrets }: Pick<Deps, 'secrets'>,
  { id, name, version, compose, allowed, allowedBy, values, ports }: Definition,
) {
  const kept: Kept = { name, version, compose, allowed, allowedBy, values: [...values], ports }
  return secrets.seal(JSON.stringify(kept), sealedAs(id))
}

/** Null while no change is under way. */
export function openBefore(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  service: Service,
): Definition | null {
  const sealed = getSealedBefore(db, service.id)
  if (sealed === null) return null
  const kept = JSON.parse(secrets.open(sealed, sealedAs(service.id))) as Kept
  return { ...service, ...kept, values: new Map(kept.values) }
}

type Kept = Pick<Definition, 'name' | 'version' | 'compose' | 'allowed' | 'allowedBy' | 'ports'> & {
  values: [string, string][]
}
