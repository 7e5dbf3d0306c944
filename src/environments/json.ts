import { z } from 'zod'
import { componentOf, id, shown, nothing, does, listOf, lists, creates } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { placesOf } from '../addresses/places.ts'
import { namedUrl, urlOn } from '../addresses/urls.ts'
import type { UrlDeps } from '../addresses/urls.ts'
import type { Config } from '../config.ts'
import { hasPort } from './processes.ts'
import type { Environment } from './store.ts'
import type { Variable } from './variable-store.ts'

/** A list of words, or one line that is split like in a POSIX shell. */
export const command = () => z.union([z.string(), z.array(z.string())])

export const variable = componentOf('Variable', () => ({
  id,
  key: z.string(),
  value: z.string().nullable(),
  secret: z.boolean(),
  buildTime: z.boolean(),
}))

/** Null for a worker without a port. With `isIntended` it has its final scheme, which containers get. */
export function urlOf(
  deps: UrlDeps & { config: Config },
  {
    environment,
    ownerId,
    isIntended = false,
  }: {
    environment: Pick<Environment, 'id' | 'label' | 'port' | 'processes' | 'hostPort'>
    ownerId: string
    isIntended?: boolean
  },
) {
  if (!hasPort(environment)) return null
  const { id, label, hostPort } = environment
  const named = namedUrl(deps, { holder: { environmentId: id }, label, isIntended })
  return named ?? urlOn(hostPort, placesOf(deps, ownerId))
}

/**
 * The address of the running app, else its future one. `published` is the address of its deployment, which an
 * app with a port keeps until the next deployment.
 */
export function reachedAt(
  deps: Parameters<typeof urlOf>[0],
  {
    published,
    ...of
  }: Omit<Parameters<typeof urlOf>[1], 'isIntended'> & { published: string | null | undefined },
) {
  const url = urlOf(deps, of)
  const isPort = url !== null && published != null && isPortOf(url) && isPortOf(published)
  return isPort ? published : url

  function isPortOf(address: string) {
    const { http, https } = deps.config.edgePorts
    const port = Number(new URL(address).port)
    return port !== 0 && port !== http && port !== https
  }
}

export const variableJson = (row: Variable) => shown(variable, row)

export const operations: SliceOperations = () => ({
  Environments: {
    'GET /envs/:envId/variables': lists('List variables; secret values are null', variable()),
    'POST /envs/:envId/variables': creates(
      'Create a variable, or all those of a .env text',
      z.union([variable(), listOf(variable())]),
    ),
    'GET /envs/:envId/variables/text': does(
      'Get all variables as text, without secrets',
      z.object({ text: z.string() }),
    ),
    'PUT /envs/:envId/variables': lists(
      'Set all variables by their text; others are removed',
      variable(),
    ),
    'GET /envs/:envId/variables/:id': does('Get a variable', variable()),
    'PUT /envs/:envId/variables/:id': does('Change a variable', variable()),
    'DELETE /envs/:envId/variables/:id': does('Delete a variable', nothing),
  },
})
