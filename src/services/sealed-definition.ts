import type { Secrets } from '../platform/secrets.ts'
import type { Definition } from './definition.ts'
import type { Service } from './store.ts'

/** As the definitions were sealed that earlier versions kept during a change. */
const sealedAs = (serviceId: string) => `service before ${serviceId}`

/** What an instance is to be made of, for the job that does it. */
export function sealDefinition(
  { secrets }: { secrets: Secrets },
  { id, name, version, compose, allowed, allowedBy, values, ports }: Definition,
) {
  const kept: Kept = { name, version, compose, allowed, allowedBy, values: [...values], ports }
  return secrets.seal(JSON.stringify(kept), sealedAs(id))
}

/** What stands before the definition in the job of a change that an earlier version began. */
const beforeMark = 'before:'

/**
 * Whether the definition of a change is what the instance was made of before it: earlier versions
 * stored the new one in its row at once, and removed the containers, so that only this one is known to work.
 */
export const goesBack = (sealed: string) => sealed.startsWith(beforeMark)

export function openDefinition(
  { secrets }: { secrets: Secrets },
  service: Service,
  sealed: string,
): Definition {
  const text = goesBack(sealed) ? sealed.slice(beforeMark.length) : sealed
  const kept = JSON.parse(secrets.open(text, sealedAs(service.id))) as Kept
  return { ...service, ...kept, values: new Map(kept.values) }
}

type Kept = Pick<Definition, 'name' | 'version' | 'compose' | 'allowed' | 'allowedBy' | 'ports'> & {
  values: [string, string][]
}
