import { z } from 'zod'
import type { Placement } from '../db/schema.ts'
import type { Edge } from '../edge/edge.ts'
import { invalidField } from '../platform/errors.ts'
import { hasVolumes, openComponents } from '../runtime/component.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import type { ServerList } from '../runtime/on-engine.ts'
import { refuseElsewhere } from '../runtime/pins.ts'
import type { Server } from '../runtime/placement.ts'
import { getLiveRelease } from '../runtime/store.ts'
import { isNamed, label } from '../servers/store.ts'
import { hasPort } from './processes.ts'
import type { Environment } from './store.ts'

const rule = 'must be the name of a server, or labels such as zone=east.'

const stored = z.union([
  z.strictObject({ server: z.string().trim().min(1).max(100) }),
  z.strictObject({
    labels: z.record(z.string().regex(label.key), z.string().regex(label.value)).refine((all) => {
      const { length } = Object.keys(all)
      return length > 0 && length <= 20
    }),
    spread: z.literal('servers'),
  }),
])

const { $schema: _, ...sentAs } = z.toJSONSchema(stored, { io: 'input' })

/** In a form it is a server’s name, or labels. */
export const placement = () =>
  z
    .unknown()
    .transform((given, { addIssue }): Placement => {
      const { data } = stored.safeParse(typeof given === 'string' ? read(given) : given)
      if (!data) addIssue({ code: 'custom', message: rule })
      return data ?? z.NEVER
    })
    .meta({ sentAs })

function read(text: string): Placement {
  const words = text.trim().split(/\s+/)
  if (!text.includes('=')) return { server: text }
  const pairs = words.map((word) => [word.split('=')[0]!, word.slice(word.indexOf('=') + 1)])
  return { labels: Object.fromEntries(pairs), spread: 'servers' }
}

/** As it is entered in a form. */
export const placementText = (servers: Server[], placed: Placement) =>
  'server' in placed
    ? (servers.find(({ id }) => id === placed.server)?.name ?? placed.server)
    : Object.entries(placed.labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(' ')

type Deps = { serverList: Pick<ServerList, 'list'>; edge: Pick<Edge, 'isOn'> }

type Input = { placement?: Placement | null | undefined }

/** With the id of the server that is named. Throws when no server has what it says. */
export function withPlacement<Values extends Input>(
  deps: Pick<Deps, 'serverList'>,
  values: Values,
): Values {
  return values.placement ? { ...values, placement: known(deps, values.placement) } : values
}

function known({ serverList }: Pick<Deps, 'serverList'>, placed: Placement): Placement {
  const all = serverList.list()
  if (all.length < 2) throw invalidField('placement', 'needs a second server. Add one first.')
  if ('server' in placed) {
    const found = all.find(({ id, name }) => id === placed.server || name === placed.server)
    if (found) return { server: found.id }
    throw invalidField('placement', 'must be one of the servers.')
  }
  if (all.some((server) => isNamed(server, placed))) return placed
  throw invalidField('placement', 'must be labels that a server has.')
}

type App = { environment: Environment }

/** What keeps an environment on the server that Davit runs on, and its field; null for nothing. */
export function whyUnplaceable({ edge }: Pick<Deps, 'edge'>, { environment }: App) {
  const { placement: placed, portSet } = environment
  if (!placed || !hasPort(environment)) return null
  const refused = (field: string, reason: string) => ({ field, reason })
  if (portSet) return refused('hostPort', 'can’t be set beside a placement.')
  if (edge.isOn) return null
  return refused('placement', 'needs an edge, through which requests reach other servers.')
}

export function refuseUnplaceable(deps: Pick<Deps, 'edge'>, app: App) {
  const why = whyUnplaceable(deps, app)
  if (why) throw invalidField(why.field, why.reason)
}

/** Throws `conflict` for another placement that isn’t where its volumes are. */
export function refuseMove(
  { db, secrets, serverList }: Pick<RuntimeDeps, 'db' | 'secrets' | 'serverList'>,
  { id, placement: before, volumes }: Environment,
  after: Placement | null | undefined,
) {
  if (after === undefined || Bun.deepEquals(before, after)) return
  const live = openComponents(secrets, getLiveRelease(db, id)) ?? []
  if (volumes.length > 0 || hasVolumes(live))
    refuseElsewhere(serverList, { id, kind: 'app' }, after)
}
