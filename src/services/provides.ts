import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { declaredFor } from './compose/connection.ts'
import type { Provided } from './compose/connection.ts'
import { ofImage } from './compose/template.ts'
import { networkNameOf } from '../runtime/workload.ts'
import { namesOf } from './compose/containers.ts'
import { fullValues, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { hostsOf } from './hosts.ts'

/** The variables for linked apps, and proposed keys with the name of the variable. */
export type Provides = { values: Map<string, Provided>; proposes: Map<string, string> }

type Deps = { config: Config; db: Db }

/** With `isAmbiguous`, a host name also exists elsewhere, so the network's name is appended. */
type Beside = { isAmbiguous?: boolean }

/**
 * Returns the variables for linked apps: those that the file declares, else host and port of each component
 * that is published or exposed.
 */
export function providesOf(
  deps: Deps,
  definition: Definition,
  { isAmbiguous = false }: Beside = {},
): Provides {
  const { id, file } = definition
  const end = isAmbiguous ? `.${networkNameOf({ id })}` : ''
  if (file.provides.size === 0) return reachable(deps, definition, end)
  const values = fullValues(deps, definition)
  const [host = ''] = reachOf(deps, definition).hosts.values()
  return {
    values: declaredFor(file, { host: `${host}${end}`, values }),
    proposes: file.proposes,
  }
}

/** The names and ports of an instance on its network, for linked apps. */
type Reach = {
  /** The proposed names by component; the main one's is first. */
  hosts: Map<string, string>
  names: string[]
  /** The first port that each component exposes. */
  exposed: Map<string, number | undefined>
}

/** A cache, since building a stack takes longer than the rest of a page. */
const known = new Map<string, Reach>()
const maxKnown = 500

/** Cached by everything that the result depends on. */
export function reachOf(deps: Deps, definition: Definition): Reach {
  const { compose, version, host, ports, template } = definition
  const values = [...fullValues(deps, definition)]
  const from = JSON.stringify([template, compose, version, host, ports, values])
  const key = new Bun.CryptoHasher('sha256').update(from).digest('base64')
  const found = known.get(key)
  if (found) return found
  const stack = versionedStack(deps, definition)
  const hosts = hostsOf(definition, stack)
  const services = [...stack.services.values()]
  const reach = {
    hosts,
    names: services.flatMap((service) => namesOf(service, hosts)),
    exposed: new Map(services.map(({ name, expose }) => [name, expose[0]])),
  }
  known.set(key, reach)
  if (known.size > maxKnown) known.delete(known.keys().next().value!)
  return reach
}

function reachable(deps: Deps, definition: Definition, end: string): Provides {
  const { host, ports } = definition
  const reach = reachOf(deps, definition)
  const hosts = [...reach.hosts]
  const values = new Map<string, Provided>()
  const set = (name: string, value: string | number) =>
    values.set(name, { value: String(value), secret: false })
  const add = (prefix: string, component: string, name: string) => {
    const port = portOf(component)
    set(`${prefix}host`, name + end)
    if (port !== undefined) set(`${prefix}port`, port)
  }
  const [main] = hosts
  if (main) add('', ...main)
  for (const [component, name] of hosts)
    if (portOf(component) !== undefined) add(`${component}_`, component, name)
  const key = (host ?? '').toUpperCase().replaceAll('-', '_')
  const proposed = [...values.keys()].filter((name) => name === 'host' || name === 'port')
  const proposes = new Map(proposed.map((name) => [`${key}_${name.toUpperCase()}`, name]))
  return { values, proposes }

  /** A port that only the image exposes is known once the image is pulled. */
  function portOf(component: string) {
    const own = ports.filter(({ target }) => target === component)
    return (
      own.find(({ containerPort }) => containerPort !== ofImage)?.containerPort ??
      reach.exposed.get(component)
    )
  }
}
