import { z } from 'zod'
import { componentOf, id, nothing, does, lists, creates } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { serviceStatuses } from '../services/store.ts'
import { shownLinks } from './effective.ts'
import type { LinkDeps } from './effective.ts'

export const link = componentOf('Link', () => ({
  id,
  environmentId: id,
  service: z.object({
    id,
    name: z.string(),
    template: z.string(),
    status: z.enum(serviceStatuses),
  }),
  host: z.string(),
  variables: z.array(
    z.object({ key: z.string(), provides: z.string(), value: z.string().nullable() }),
  ),
}))

export type ShownLink = Awaited<ReturnType<typeof linksOf>>[number]

/** Oldest first, without secrets. Variables that a service no longer provides have no value. */
export async function linksOf(deps: LinkDeps, environmentId: string) {
  const links = await shownLinks(deps, environmentId)
  return links.map(({ link, service, provides: { values } }) => {
    const { name, template, status, host } = service
    return {
      id: link.id,
      environmentId,
      service: { id: service.id, name, template, status },
      host: host ?? '',
      variables: Object.entries(link.variables).map(([key, provides]) => {
        const provided = values.get(provides)
        return { key, provides, value: provided && !provided.secret ? provided.value : null }
      }),
    }
  })
}

export const operations: SliceOperations = () => ({
  Environments: {
    'GET /envs/:envId/links': lists('List the services that its app is linked to', link()),
    'POST /envs/:envId/links': creates(
      'Link a service to its app, or create one and link that',
      link(),
    ),
    'GET /envs/:envId/links/:id': does('Get a link', link()),
    'PUT /envs/:envId/links/:id': does('Change the variables of a link', link()),
    'DELETE /envs/:envId/links/:id': does('Remove a link; the service stays', nothing),
  },
})
