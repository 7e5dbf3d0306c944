import { Failure } from '../platform/errors.ts'
import { openLinks } from './effective.ts'
import type { LinkDeps } from './effective.ts'
import { listLinks } from './store.ts'

export type ShownLink = Awaited<ReturnType<typeof linksOf>>[number]

/** Oldest first, without secrets. Variables that a service no longer provides have no value. */
export async function linksOf(deps: LinkDeps, environmentId: string) {
  const open = await openLinks(deps, environmentId).catch(unreadable)
  const values = new Map(open.map(({ link, provides }) => [link.id, provides.values]))
  return listLinks(deps.db, environmentId).map(({ link, service }) => {
    const { name, template, status, host } = service
    return {
      id: link.id,
      environmentId,
      service: { id: service.id, name, template, status },
      host: host ?? '',
      variables: Object.entries(link.variables).map(([key, provides]) => {
        const provided = values.get(link.id)?.get(provides)
        return { key, provides, value: provided && !provided.secret ? provided.value : null }
      }),
    }
  })
}

/** Shows no values when a service's file or values can't be read. */
function unreadable(error: unknown) {
  if (error instanceof Failure) return []
  throw error
}
