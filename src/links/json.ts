import { Failure } from '../platform/errors.ts'
import { lacksHost } from '../services/hosts.ts'
import { providesOf } from '../services/provides.ts'
import type { Provides } from '../services/provides.ts'
import { definitionOf } from '../services/stored-definition.ts'
import type { LinkDeps } from './effective.ts'
import { listLinks } from './store.ts'
import type { Linked } from './store.ts'

/** A link as its owner may see it. */
export type ShownLink = Awaited<ReturnType<typeof linkJson>>

/** Without the value of a secret, and of what the service doesn't provide any more. */
export async function linkJson(deps: LinkDeps, { link, service }: Linked) {
  const { id, environmentId, variables } = link
  const { name, template, status, host } = service
  const values = await valuesOf(deps, { link, service })
  return {
    id,
    environmentId,
    service: { id: service.id, name, template, status },
    host: host ?? '',
    variables: Object.entries(variables).map(([key, provides]) => {
      const provided = values.get(provides)
      return { key, provides, value: provided && !provided.secret ? provided.value : null }
    }),
    ...(lacksHost(deps, service) && { note: restartOnce(name) }),
  }
}

/** The links of an environment, oldest first. */
export const linksOf = (deps: LinkDeps, environmentId: string): Promise<ShownLink[]> =>
  Promise.all(listLinks(deps.db, environmentId).map((linked) => linkJson(deps, linked)))

/** None where its file or its values can't be read. */
async function valuesOf(deps: LinkDeps, { service }: Linked): Promise<Provides['values']> {
  try {
    return providesOf(deps, await definitionOf(deps, service)).values
  } catch (error) {
    if (error instanceof Failure) return new Map()
    throw error
  }
}

const restartOnce = (name: string) =>
  `Restart ${name} once: an earlier version of Davit created its containers, and apps don’t reach them by name.`
