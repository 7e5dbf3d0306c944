import type { Deps } from '../deps.ts'
import { Failure } from '../platform/errors.ts'
import { getSealedValues } from './store.ts'

const sealedAs = (serviceId: string) => `service ${serviceId}`

/** The values of an instance's variables, for its row. */
export const sealValues = (
  { secrets }: Pick<Deps, 'secrets'>,
  { id, values }: { id: string; values: ReadonlyMap<string, string> },
) => secrets.seal(JSON.stringify([...values]), sealedAs(id))

/** The values that an instance was made with. */
export function openValues(
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  { id, name }: { id: string; name: string },
): Map<string, string> {
  try {
    return new Map(JSON.parse(secrets.open(getSealedValues(db, id)!, sealedAs(id))))
  } catch (cause) {
    throw new Failure(
      'values_unreadable',
      `The values of the service ${name} can no longer be read.`,
      'Start Davit with the key that it had before: its key file, or DAVIT_SECRET_KEY.',
      { cause },
    )
  }
}
