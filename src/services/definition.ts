import type { Deps } from '../deps.ts'
import { labelsFor } from '../projects/labels.ts'
import { planContainers } from './compose/containers.ts'
import type { ContainerPlan } from './compose/containers.ts'
import type { Stack } from './compose/model.ts'
import { readCompose, readTemplate, stackOf } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { builtIns } from './address.ts'
import type { Service, ServicePort } from './store.ts'

/** The name under which a file of the user's own stands where others have a template's name. */
export const ownFile = 'compose'

/** What an instance is made of: as in the row, or as it is about to be. */
export type Definition = Pick<Service, 'id' | 'ownerId' | 'name' | 'template' | 'version'> &
  Pick<Service, 'compose' | 'allowed'> & {
    values: ReadonlyMap<string, string>
    ports: ServicePort[]
  }

/** The file of an instance, read again: nothing of it is kept twice. */
export const templateOf = ({ template, compose }: Pick<Definition, 'template' | 'compose'>) =>
  template === ownFile
    ? readCompose(compose, { file: 'compose.yaml', field: 'compose' })
    : readTemplate(compose, { file: `${template}.yaml` })

/** The containers of an instance in the order of their start. */
export function plansOf(
  { config, instanceId }: Pick<Deps, 'config' | 'instanceId'>,
  definition: Definition,
): ContainerPlan[] {
  const { id, ownerId, name, allowed, ports } = definition
  const publish = ports.map(({ target, containerPort, protocol, port }) => ({
    service: target,
    container: containerPort,
    protocol,
    host: port,
  }))
  return planContainers(versionedStack({ config }, definition), {
    id,
    name,
    labels: labelsFor({ instanceId, kind: 'service', ownerId, serviceId: id }),
    network: networkName(id),
    publishAddress: config.publishAddress,
    publish,
    allowed,
  })
}

export const networkName = (serviceId: string) => `davit-${serviceId}`

/** The stack with the values in place, and the version that was chosen in that of the template's. */
export function versionedStack({ config }: Pick<Deps, 'config'>, definition: Definition): Stack {
  const template = templateOf(definition)
  const values = new Map([...definition.values, ...builtIns(config, definition.ports)])
  const stack = stackOf(template, values)
  for (const service of stack.services.values())
    service.image = withVersion(service.image, template, definition.version)
  return stack
}

/** Images that carry the template's version get the chosen one; those beside them stay. */
function withVersion(image: string, { about }: Pick<Template, 'about'>, version: string) {
  const tagged = `:${about.version}`
  return image.endsWith(tagged) ? `${image.slice(0, -tagged.length)}:${version}` : image
}
