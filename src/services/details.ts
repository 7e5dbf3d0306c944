import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { connectionOf } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { askedFor } from './compose/values.ts'
import type { Detail } from './connection.tsx'
import { fullValues } from './definition.ts'
import type { Definition } from './definition.ts'

/** How clients reach an instance, and what secrets it has; without their values unless asked for. */
export function detailsOf(
  deps: { config: Config; db: Db },
  { definition, template }: { definition: Definition; template: Template },
  { withSecrets }: { withSecrets: boolean },
): Detail[] {
  const values = fullValues(deps, definition, template)
  const connection = connectionOf(template, values)
  const shown = new Set(connection.map(({ value }) => value))
  const others = askedFor(template.variables).flatMap(({ name, label, secret }) => {
    const value = values.get(name)
    return secret && value && !shown.has(value) ? [{ label, value, secret }] : []
  })
  return [...connection, ...others].map(({ label, value, secret }) => ({
    label,
    value: secret && !withSecrets ? null : value,
  }))
}
