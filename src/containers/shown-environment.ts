import type { Db } from '../db/index.ts'
import type { Container } from '../docker/index.ts'
import { openVariables } from '../environments/variable-store.ts'
import type { OpenVariable } from '../environments/variable-store.ts'
import type { Masks } from '../logs/masks.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { ContainerOwner } from './find.ts'
import { maskOf } from './open-log.ts'

export type ShownVariable = Awaited<ReturnType<typeof shownEnvironment>>['environment'][number]

/** Set by Davit or the image for every app, and never secret. */
const harmless = ['PORT', 'PATH']

/**
 * Returns the variables that a container was started with. It reveals only values that the owner
 * currently stores as readable: all others could be secrets, whatever their names.
 */
export async function shownEnvironment(
  deps: { db: Db; secrets: Secrets; masks: Masks },
  { container, place }: { container: Container; place: ContainerOwner },
) {
  const isApp = place.kind === 'own' && place.environment !== null
  const variables = isApp ? openVariables(deps.db, deps.secrets, place.environment!.id) : []
  const stored = new Map(variables.map((variable) => [variable.key, variable]))
  const { mask } = await maskOf(deps, { container, place })

  const show = (entry: string) => {
    const at = entry.indexOf('=')
    const [key, value] = [entry.slice(0, at), entry.slice(at + 1)]
    const note = whyHidden({ key, value, isApp, stored: stored.get(key) })
    return { key, value: note ? null : mask(value), note }
  }
  return { environment: container.env.map(show), mask }
}

function whyHidden({
  key,
  value,
  isApp,
  stored,
}: {
  key: string
  value: string
  isApp: boolean
  stored: OpenVariable | undefined
}) {
  if (!isApp) return 'hidden'
  if (stored?.secret) return 'secret'
  if (stored?.value === value || harmless.includes(key)) return null
  return stored ? 'changed since; deploy to use the new value' : 'not one of the variables'
}
