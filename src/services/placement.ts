import { z } from 'zod'
import { placement, withPlacement } from '../environments/placement.ts'
import { invalidField } from '../platform/errors.ts'
import { firstServer } from '../platform/root.ts'
import type { ServerList } from '../runtime/on-engine.ts'
import { isNamed } from '../servers/store.ts'
import type { Stack } from './compose/model.ts'
import type { Definition } from './definition.ts'
import type { Target } from './ports.ts'
import type { Service } from './store.ts'

type Deps = { serverList: Pick<ServerList, 'list'> }

/** Null for the server that Davit runs on; all of a service runs on one. */
export const placementField = () => placement().nullish()

/** The server that its containers run on. */
export const serverOf = ({ placement }: Pick<Service, 'placement'>) =>
  placement?.server ?? firstServer

/** Those that a service may be placed on. */
export const placeable = ({ serverList }: Deps) =>
  serverList.list().filter(({ roles, state }) => roles.includes('apps') && state !== 'draining')

/** As it is stored. Throws `invalid` for what isn't one server that may run it. */
export function oneServer(
  deps: Deps,
  placed: z.output<ReturnType<typeof placementField>>,
): Service['placement'] {
  const { placement: known } = withPlacement(deps, { placement: placed })
  if (!known) return null
  const [server, ...others] = deps.serverList.list().filter((one) => isNamed(one, known))
  if (!server || others.length > 0)
    throw invalidField('placement', 'must be one server: its name, or labels that only it has.')
  if (!server.roles.includes('apps'))
    throw invalidField('placement', `can’t be ${server.name}, which doesn’t have the role apps.`)
  return server.id === firstServer ? null : { server: server.id }
}

/** What an admin allows is access to Davit's own server. */
export function refuseUnplaceable(definition: Pick<Definition, 'placement'>, { dangers }: Stack) {
  if (serverOf(definition) === firstServer || dangers.length === 0) return
  const all = dangers.map(({ message }) => message).join(' ')
  throw invalidField(
    'placement',
    `must be the server that Davit runs on for a service with access to it: ${all}`,
  )
}

/** Why requests for a domain can’t reach this port of its containers; null when they can. */
export const whyUnreached = (
  { placement, ports }: Pick<Definition, 'placement' | 'ports'>,
  { component, port }: Target,
) =>
  serverOf({ placement }) === firstServer ||
  ports.some(
    (one) => one.target === component && one.containerPort === port && one.protocol === 'tcp',
  )
    ? null
    : `can’t be ${component}:${port}, which isn’t published: on another server only published ports are reached.`
