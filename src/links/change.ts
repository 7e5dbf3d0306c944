import type { Db } from '../db/index.ts'
import { rememberLinked } from '../logs/secret-store.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Provides } from '../services/provides.ts'
import { updateService } from '../services/store.ts'
import type { Service } from '../services/store.ts'
import { deleteLink, insertLink, listLinks, updateLink } from './store.ts'
import type { Link, LinkVariables } from './store.ts'

type Deps = { db: Db; secrets: Secrets }

/** Call it in a transaction. Without given variables, links those that the service proposes. */
export function addLink(
  { db }: Pick<Deps, 'db'>,
  {
    environmentId,
    service: { id: serviceId, name, deletingAt, previewId },
    provides,
    variables,
  }: {
    environmentId: string
    service: Pick<Service, 'id' | 'name' | 'deletingAt' | 'previewId'>
    provides: Provides
    variables: LinkVariables | undefined
  },
): Link {
  if (deletingAt) throw new AppError('conflict', `${name} is being deleted. Link another service.`)
  const others = listLinks(db, environmentId)
  if (others.some(({ service }) => service.id === serviceId))
    throw invalidField('serviceId', 'is already linked. Change the existing link.')
  refuseMore('links', others.length)
  const keys = new Set(others.flatMap(({ link }) => Object.keys(link.variables)))
  const proposed = () => numbered(provides.proposes, keys)
  const chosen = variables ?? proposed()
  refuseWrong(db, { environmentId, serviceId, provides, variables: chosen })
  const isAnothers = previewId !== null && previewId !== environmentId
  if (isAnothers) updateService(db, serviceId, { previewId: null }) // its data isn't thrown away
  return insertLink(db, { environmentId, serviceId, variables: chosen })
}

/** Call it in a transaction. Changes the keys of a link's variables. */
export function changeLink(
  { db }: Pick<Deps, 'db'>,
  { id, environmentId, serviceId }: Link,
  { provides, variables }: { provides: Provides; variables: LinkVariables },
): Link {
  refuseWrong(db, { environmentId, serviceId, provides, variables })
  return updateLink(db, id, variables)
}

/** Call it in a transaction. The service's secrets stay masked in the app's logs. */
export function removeLink(deps: Deps, { id, environmentId, serviceId }: Link) {
  rememberLinked(deps, { serviceId, environmentIds: [environmentId] })
  deleteLink(deps.db, id)
}

/** Keys that another link already has get the same number, such as `DATABASE_URL_2`. */
export function numbered(proposes: ReadonlyMap<string, string>, taken: ReadonlySet<string>) {
  for (let count = 1; ; count++) {
    const end = count === 1 ? '' : `_${count}`
    const keys = [...proposes].map(([key, name]) => [`${key}${end}`, name] as const)
    if (!keys.some(([key]) => taken.has(key))) return Object.fromEntries(keys)
  }
}

function refuseWrong(
  db: Db,
  {
    environmentId,
    serviceId,
    provides: { values },
    variables,
  }: Pick<Link, 'environmentId' | 'serviceId' | 'variables'> & { provides: Provides },
) {
  for (const [key, name] of Object.entries(variables))
    if (!values.has(name))
      throw invalidField(
        'variables',
        name === ''
          ? `has nothing after ${key}=. ${namesOf(values)}`
          : `uses ${name.slice(0, 100)} for ${key}, which the service doesn’t provide. ${namesOf(values)}`,
      )
  for (const { link, service } of listLinks(db, environmentId)) {
    if (service.id === serviceId) continue
    const key = Object.keys(link.variables).find((other) => Object.hasOwn(variables, other))
    if (key)
      throw invalidField(
        'variables',
        `has ${key}, which already comes from ${service.name}. Choose another name.`,
      )
  }
}

const namesOf = (values: Provides['values']) =>
  values.size === 0
    ? 'It provides nothing: its file exposes no port.'
    : `It provides ${[...values.keys()].join(', ')}.`
