import { getDeployment } from '../../environments/store.ts'
import type { LogDb, Db } from '../../db/index.ts'
import type { Masks } from '../../logs/masks.ts'
import { getLastMemory } from '../../containers/usage/sample-store.ts'
import type { ObservedContainers } from '../../runtime/observed-containers.ts'
import { listInstancesOfRelease } from '../../runtime/store.ts'
import type { WatchedTraffic } from '../../traffic/watched.ts'
import type { Deployment } from '../store.ts'
import { figuresOf } from './store.ts'

export type ViewDeps = {
  masks: Masks
  db: Db
  logDb: LogDb
  observed: ObservedContainers
  watched: WatchedTraffic
}

export type WatchView = NonNullable<ReturnType<typeof watchView>>

/** With today's masks: values may have been marked secret since. */
export async function withMaskedWatch<Row extends Deployment>(
  { masks }: Pick<ViewDeps, 'masks'>,
  row: Row,
): Promise<Row> {
  const { environmentId, watch } = row
  if (!watch || watch.lines.length + watch.requests.length === 0) return row
  const { mask } = await masks.of(environmentId)
  const of = (text: string) => mask(text, { since: watch.since })
  const requests = watch.requests.map(({ path, ...one }) => ({ ...one, path: of(path) }))
  return { ...row, watch: { ...watch, requests, lines: watch.lines.map((line) => of(line)) } }
}

/** The same, and until its end with what both versions did so far. */
export async function withCurrentWatch(deps: ViewDeps, row: Deployment) {
  const { environmentId, watch, watchUntil } = row
  if (!watch || !watchUntil) return withMaskedWatch(deps, row)
  const figures = figuresOf(deps.logDb, { environmentId, watch })
  const requests = await failedOf(deps, environmentId)
  return { ...row, watch: { ...watch, figures, requests } }
}

/** Null for a deployment that was never watched; of one with its current watch. */
export function watchView(deps: ViewDeps, { id, number, watch, watchUntil: until }: Deployment) {
  if (!watch) return null
  const { end, why, on, lines, requests, figures, share = null } = watch
  return {
    ...{ number, until, end, why, on, lines, requests, share },
    before: getDeployment(deps.db, watch.before),
    current: { ...figures.after!, ...containersOf(deps, id) },
    previous: { ...figures.before, ...containersOf(deps, watch.before) },
  }
}

/** Requests to the version that is watched which failed so far. */
export async function failedOf(
  { masks, watched }: Pick<ViewDeps, 'masks' | 'watched'>,
  environmentId: string,
) {
  const { mask } = await masks.of(environmentId)
  return watched.failedOf(environmentId).map(({ path, ...one }) => ({ ...one, path: mask(path) }))
}

/** Null for those that were removed. */
function containersOf({ db, logDb, observed }: ViewDeps, releaseId: string) {
  const ids = listInstancesOfRelease(db, releaseId).flatMap(({ containerId }) => containerId ?? [])
  const conditions = ids.flatMap((id) => observed.condition(id) ?? [])
  const memory = ids.flatMap((id) => getLastMemory(logDb, id) ?? [])
  return {
    restarts: conditions.length > 0 ? sum(conditions.map((one) => one.restartCount)) : null,
    memory: memory.length > 0 ? sum(memory) : null,
  }
}

const sum = (all: number[]) => all.reduce((total, one) => total + one, 0)
