import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { declaredFor } from './compose/connection.ts'
import type { Provided } from './compose/connection.ts'
import { ofImage } from './compose/template.ts'
import { networkNameOf } from '../runtime/workload.ts'
import { componentsOf, fullValues, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { hostsOf } from './hosts.ts'

/** What linked apps get of an instance, and under which keys, by name of what it provides. */
export type Provides = { values: Map<string, Provided>; proposes: Map<string, string> }

type Deps = { config: Config; db: Db }

/** Where a name that is a host of the instance means something else, too, it is named with its network. */
type Beside = { isAmbiguous?: boolean }

/**
 * What linked apps get of an instance: as its file says, else host and port of each component that is
 * published or exposed.
 */
export function providesOf(
  deps: Deps,
  definition: Definition,
  { isAmbiguous = false }: Beside = {},
): Provides {
  const { id, file, host } = definition
  const end = isAmbiguous ? `.${networkNameOf({ id })}` : ''
  if (file.provides.size === 0) return reachable(deps, definition, end)
  const values = fullValues(deps, definition)
  return {
    values: declaredFor(file, { host: `${host ?? ''}${end}`, values }),
    proposes: file.proposes,
  }
}

/**
 * Whether a name by which linked apps are to reach an instance is one of the others' networks, too, or
 * one of the apps' own.
 */
export function isAmbiguous(
  deps: Deps,
  definition: Definition,
  { others, own }: { others: Definition[]; own: string[] },
) {
  const hosts = hostsOf(definition, versionedStack(deps, definition)).values().toArray()
  const ofOthers = others.flatMap((other) =>
    componentsOf(deps, other).flatMap(({ options }) => options.networkAliases ?? []),
  )
  const taken = new Set([...ofOthers, ...own])
  return hosts.some((name) => taken.has(name))
}

function reachable(deps: Deps, definition: Definition, end: string): Provides {
  const { host, ports } = definition
  const stack = versionedStack(deps, definition)
  const hosts = [...hostsOf(definition, stack)]
  const values = new Map<string, Provided>()
  const set = (name: string, value: string | number) =>
    values.set(name, { value: String(value), secret: false })
  const add = (prefix: string, component: string, name: string) => {
    const port = portOf(component)
    set(`${prefix}host`, name + end)
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
