import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { declaredFor } from './compose/connection.ts'
import type { Provided } from './compose/connection.ts'
import { ofImage } from './compose/template.ts'
import { fullValues, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { hostsOf } from './hosts.ts'

/** What linked apps get of an instance, and under which keys, by name of what it provides. */
export type Provides = { values: Map<string, Provided>; proposes: Map<string, string> }

/**
 * What linked apps get of an instance: as its file says, else host and port of each component that is
 * published or exposed.
 */
export function providesOf(deps: { config: Config; db: Db }, definition: Definition): Provides {
  const { file, host } = definition
  if (file.provides.size === 0) return reachable(deps, definition)
  const values = declaredFor(file, { host: host ?? '', values: fullValues(deps, definition) })
  return { values, proposes: file.proposes }
}

function reachable(deps: { config: Config; db: Db }, definition: Definition): Provides {
  const { host, ports } = definition
  const stack = versionedStack(deps, definition)
  const hosts = [...hostsOf(definition, stack)]
  const values = new Map<string, Provided>()
  const set = (name: string, value: string | number) =>
    values.set(name, { value: String(value), secret: false })
  const add = (prefix: string, component: string, name: string) => {
    const port = portOf(component)
    set(`${prefix}host`, name)
    if (port !== undefined) set(`${prefix}port`, port)
  }
  const main = hosts.find(([, name]) => name === host)
  if (main) add('', ...main)
  for (const [component, name] of hosts)
    if (portOf(component) !== undefined) add(`${component}_`, component, name)
  const key = (host ?? '').toUpperCase().replaceAll('-', '_')
  const proposed = [...values.keys()].filter((name) => name === 'host' || name === 'port')
  const proposes = new Map(proposed.map((name) => [`${key}_${name.toUpperCase()}`, name]))
  return { values, proposes }

  /** What only the image names is known once it is here. */
  function portOf(component: string) {
    const own = ports.filter(({ target }) => target === component)
    return (
      own.find(({ containerPort }) => containerPort !== ofImage)?.containerPort ??
      stack.services.get(component)!.expose[0]
    )
  }
}
