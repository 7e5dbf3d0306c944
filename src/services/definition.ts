import { isAdmin } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { looksSecret } from '../logs/secret-names.ts'
import { placesOf } from '../addresses/places.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Component } from '../runtime/component.ts'
import { addressesOf, builtIns } from './address.ts'
import { planContainers } from './compose/containers.ts'
import { refuseDangers } from './compose/dangers.ts'
import { readEnvFile } from './compose/env-file.ts'
import type { Stack } from './compose/model.ts'
import { dotenv, stackOf } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { withDerived } from './compose/values.ts'
import type { Values } from './compose/variables.ts'
import { hostsOf } from './hosts.ts'
import { keepVolumes } from './keep-volumes.ts'
import { serverOf } from './placement.ts'
import type { Service, ServicePort } from './store.ts'

/** The stored definition of an instance, or a new one. */
export type Definition = Pick<
  Service,
  | ('id' | 'ownerId' | 'name' | 'host' | 'template' | 'version' | 'compose' | 'placement')
  | ('allowed' | 'allowedBy')
> & {
  /** The hosts of its domains. */
  domains: string[]
  values: Values
  ports: ServicePort[]
  file: Template
}

type Deps = { config: Config; db: Db }

/** Returns the containers of an instance in their start order. */
export function componentsOf(
  deps: Deps & { secrets: Secrets },
  definition: Definition,
): Component[] {
  const { id, ownerId, name, allowed, ports } = definition
  const publish = ports.map(({ target, containerPort, protocol, port }) => ({
    service: target,
    container: containerPort,
    protocol,
    host: port,
  }))
  const stack = mountedStack(deps, definition)
  return planContainers(stack, {
    id,
    name,
    hosts: hostsOf(definition, stack),
    publishAddress: placesOf(deps, ownerId, serverOf(definition)).publishAddress,
    publish,
    allowed,
  })
}

/** The instance's current permissions. They lapse when the person who granted them is no longer an admin. */
export const grantsOf = (
  { db }: { db: Db },
  { allowed, allowedBy }: Pick<Service, 'allowed' | 'allowedBy'>,
) => (isAdmin(db, allowedBy) ? allowed : [])

/** Throws `forbidden` when an admin must allow something again. */
export function refuseLapsed(deps: Deps, definition: Definition) {
  if (definition.allowed.length > 0)
    refuseDangers(versionedStack(deps, definition).dangers, grantsOf(deps, definition))
}

/** The stack with its variables expanded, and the chosen version in images that have the file's version. */
export function versionedStack(deps: Deps, definition: Definition): Stack {
  const { file, version } = definition
  const stack = stackOf(file, fullValues(deps, definition))
  const tagged = `:${file.about.version}`
  for (const service of stack.services.values())
    if (service.image.endsWith(tagged))
      service.image = `${service.image.slice(0, -tagged.length)}:${version}`
  return stack
}

/** The same, with the volumes that it has. */
export function mountedStack(deps: Deps & { secrets: Secrets }, definition: Definition): Stack {
  const stack = versionedStack(deps, definition)
  keepVolumes(deps, { id: definition.id, services: stack.services })
  return stack
}

/** All values that the file may use: the stored ones, and those that depend on the instance's address. */
export function fullValues(
  deps: Deps,
  definition: Pick<Definition, 'values' | 'ports' | 'ownerId' | 'file' | 'placement'>,
): Map<string, string> {
  const { values, ports, ownerId, file } = definition
  const places = placesOf(deps, ownerId, serverOf(definition))
  const derived = withDerived(file.variables, values, addressesOf(places, ports))
  return new Map([...values, ...derived, ...builtIns(places, ports)])
}

/** The values that no log and no page may show. */
export function secretsOf({ values, file }: { values: Values; file: Pick<Template, 'variables'> }) {
  const env = readEnvFile(values.get(dotenv) ?? '', { lookup: (name) => values.get(name) })
  return [
    ...[...file.variables.values()]
      .filter(({ secret }) => secret)
      .flatMap(({ name }) => values.get(name) ?? []),
    ...[...env].filter(([name]) => looksSecret(name)).map(([, value]) => value),
  ]
}
