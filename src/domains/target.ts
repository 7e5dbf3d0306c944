import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { invalidField } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { versionedStack } from '../services/definition.ts'
import { whyUnreached } from '../services/placement.ts'
import { whyNoTarget } from '../services/ports.ts'
import type { Target } from '../services/ports.ts'
import type { Service } from '../services/store.ts'
import { definitionOf } from '../services/stored-definition.ts'
import { parseTarget } from './forms.ts'

/** Throws `invalid` when a service has no such component, or doesn't listen on the port. */
export async function checkTarget(
  deps: { db: Db; config: Config; secrets: Secrets },
  service: Service,
  text: string,
): Promise<Target> {
  const asked = parseTarget(text)!
  const definition = await definitionOf(deps, service)
  const why =
    whyNoTarget(versionedStack(deps, definition), asked) ?? whyUnreached(definition, asked)
  if (why) throw invalidField('target', why)
  return asked
}
