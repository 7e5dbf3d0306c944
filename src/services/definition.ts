import { isAdmin } from '../accounts/user-store.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { placesOf } from '../projects/places.ts'
import type { Component } from '../runtime/component.ts'
import { planContainers } from './compose/containers.ts'
import { refuseDangers } from './compose/dangers.ts'
import type { Stack } from './compose/model.ts'
import { dotenv, readTemplate, stackOf } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { withDerived } from './compose/values.ts'
import { looksSecret } from '../logs/secret-names.ts'
import { addressesOf, builtIns } from './address.ts'
import { openOwnFile, ownFile, pairsOf, readOwnFile } from './own-file.ts'
import type { Service, ServicePort } from './store.ts'

/** What an instance is made of: as in the row, or as it is about to be. */
export type Definition = Pick<Service, 'id' | 'ownerId' | 'name' | 'template' | 'version'> &
  Pick<Service, 'compose' | 'allowed' | 'allowedBy'> & {
    values: ReadonlyMap<string, string>
    ports: ServicePort[]
  }

/** The file of an instance, read again: nothing of it is kept twice. Call `readAhead` before. */
export function templateOf({ template, compose, values }: Read): Template {
  if (template !== ownFile) return readTemplate(compose, { file: `${template}.yaml` })
  return openOwnFile(compose, values.get(dotenv) ?? null)
}

type Read = Pick<Definition, 'template' | 'compose' | 'values'>

/** Reads the file of an instance ahead, so that `templateOf` and all that uses it needs no time. */
export async function readAhead({
  template,
  compose,
  values,
  ownerId,
}: Read & { ownerId: string }) {
  if (template === ownFile)
    await readOwnFile(compose, values.get(dotenv) ?? null, { owner: ownerId })
}

/** The containers of an instance in the order of their start. */
export function componentsOf(
  deps: { config: Config; db: Db },
  definition: Definition,
): Component[] {
  const { id, ownerId, name, allowed, ports } = definition
  const publish = ports.map(({ target, containerPort, protocol, port }) => ({
    service: target,
    container: containerPort,
    protocol,
    host: port,
  }))
  return planContainers(versionedStack(deps, definition), {
    id,
    name,
    publishAddress: placesOf(deps, ownerId).publishAddress,
    publish,
    allowed,
  })
}

/** What the instance is allowed now: it lapses when who allowed it is no longer an admin. */
export const grantsOf = (
  { db }: { db: Db },
  { allowed, allowedBy }: Pick<Service, 'allowed' | 'allowedBy'>,
) => (isAdmin(db, allowedBy) ? allowed : [])

/** Throws `forbidden` where an admin has to allow again what the file needs. */
export function refuseLapsed(deps: { db: Db; config: Config }, definition: Definition) {
  if (definition.allowed.length > 0)
    refuseDangers(versionedStack(deps, definition).dangers, grantsOf(deps, definition))
}

/** The stack with the values in place, and the version that was chosen in that of the template's. */
export function versionedStack(
  deps: { config: Config; db: Db },
  definition: Definition,
  template = templateOf(definition),
): Stack {
  const stack = stackOf(template, fullValues(deps, definition, template))
  for (const service of stack.services.values())
    service.image = withVersion(service.image, template, definition.version)
  return stack
}

/** All that the file may mention: the kept values, and those that follow from where it is published. */
export function fullValues(
  deps: { config: Config; db: Db },
  { values, ports, ownerId }: Pick<Definition, 'values' | 'ports' | 'ownerId'>,
  { variables }: Template,
): Map<string, string> {
  const places = placesOf(deps, ownerId)
  const derived = withDerived(variables, values, addressesOf(places, ports))
  return new Map([...values, ...derived, ...builtIns(places, ports)])
}

/** The values that no log and no page may show. */
export function secretsOf(definition: Read) {
  const { variables } = templateOf(definition)
  const env = pairsOf(definition.values.get(dotenv) ?? '')
  return [
    ...[...variables.values()]
      .filter(({ secret }) => secret)
      .flatMap(({ name }) => definition.values.get(name) ?? []),
    ...[...env].filter(([name]) => looksSecret(name)).map(([, value]) => value),
  ]
}

/** Images that carry the template's version get the chosen one; those beside them stay. */
function withVersion(image: string, { about }: Pick<Template, 'about'>, version: string) {
  const tagged = `:${about.version}`
  return image.endsWith(tagged) ? `${image.slice(0, -tagged.length)}:${version}` : image
}
