import type { Db } from '../db/index.ts'
import type { UnwatchedReason } from '../db/schema.ts'
import { hasShare } from '../db/watch-schema.ts'
import type { Edge } from '../edge/edge.ts'
import { AppError } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import { getLiveRelease } from '../runtime/store.ts'
import { hasPort, web } from './processes.ts'
import { getCurrent } from './store.ts'
import type { Environment } from './store.ts'

type Deps = { db: Db; edge: Pick<Edge, 'mode' | 'isOn'> }
type App = { project: Pick<Project, 'composeFile'>; environment: Environment }

/** Why requests can't reach two versions of an app, one of which takes over for the other; null when they can. */
export function whyAlone(
  { db, edge }: Deps,
  { project, environment }: App,
): Exclude<UnwatchedReason, 'off' | 'stop-first'> | null {
  const { id, processes, portSet } = environment
  if (!hasPort(environment)) return 'worker'
  if (project.composeFile !== null) return 'compose'
  // two versions of a worker must not work side by side
  if (processes.some(({ name }) => name !== web)) return 'processes'
  if (!edge.isOn) return 'no-edge'
  if (portSet) return 'own-port'
  if (getCurrent(db, id)?.status !== 'running') return 'first'
  return getLiveRelease(db, id)?.edge ? null : 'no-edge'
}

/** The version that has a share of the requests: until that ends, it isn't decided which version goes on. */
export function getShared(db: Db, { id }: Pick<Environment, 'id'>) {
  const current = getCurrent(db, id)
  return current && hasShare(current) ? current : null
}

/** Versions beside one that has a share of the requests, with the percentage that they still get. */
export function listRests(db: Db, rows: { deployment: { environmentId: string } }[]) {
  const ids = new Set(rows.map(({ deployment }) => deployment.environmentId))
  const shared = [...ids].flatMap((id) => getShared(db, { id }) ?? [])
  return new Map(
    shared.map(({ status, watch }) => {
      const { before, share } = watch!
      return [before, status === 'running' ? 100 - share!.percent : 100] as const
    }),
  )
}

export type Rests = ReturnType<typeof listRests>

/** Throws while a version has a share of the requests. */
export function refuseShared(db: Db, environment: Environment) {
  const shared = getShared(db, environment)
  if (shared)
    throw new AppError(
      'conflict',
      `#${shared.number} of ${environment.name} has a share of the requests. Promote or cancel it first.`,
    )
}

/** Explains why a new version can't get a share of the requests beside the one before; null when it can. */
export function whyNoShare(deps: Deps, app: App) {
  if (deps.edge.mode !== 'caddy')
    return refused(
      'needs the edge that Davit runs itself (DAVIT_EDGE=caddy), which sends requests to both versions.',
    )
  if (app.environment.volumes.length > 0)
    return refused('isn’t possible with volumes, which only one version can write to.')
  const why = whyAlone(deps, app)
  return why && reasons[why]
}

/** `isState` when another deployment changes that, and no setting. */
const refused = (reason: string, { isState = false } = {}) => ({ reason, isState })

const noOther = refused(
  'needs a version that runs behind the edge, which gets the other requests. Deploy to all of them first.',
  { isState: true },
)

const reasons = {
  worker: refused('needs an app with a port.'),
  compose: refused('isn’t possible for an app of a Compose file.'),
  processes: refused(
    'isn’t possible with processes besides web, of which two versions would work side by side.',
  ),
  'own-port': refused(
    'isn’t possible with a host port of its own, which only one version can have.',
  ),
  'no-edge': noOther,
  first: noOther,
}
