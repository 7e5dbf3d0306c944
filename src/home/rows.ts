import type { Config } from '../config.ts'
import { reachedAt } from '../environments/json.ts'
import type { UrlDeps } from '../addresses/urls.ts'
import { isServing } from '../map/states.ts'
import type { Item } from './inventory.ts'
import { listShown } from './store.ts'

export type Row = ReturnType<typeof rowsOf>[number]

/** Reads whole rows, so call it only with the items of one page. */
export function rowsOf(deps: UrlDeps & { config: Config }, ownerId: string, items: Item[]) {
  const apps = items.flatMap((item) => (item.kind === 'app' ? [item] : []))
  const ids = apps.flatMap(({ app }) => [app.current?.id ?? [], app.latest?.id ?? []].flat())
  const shown = listShown(deps.db, { deploymentIds: ids, environmentIds: apps.map(({ id }) => id) })
  const deployed = byId(shown.deployments)
  const places = byId(shown.environments)
  return items.map((item) => {
    if (item.kind === 'service') return { ...item, url: null, current: null, latest: null }
    const current = deployed.get(item.app.current?.id ?? '') ?? null
    const latest = deployed.get(item.app.latest?.id ?? '') ?? null
    const environment = places.get(item.id)
    /** Of an app, while it runs. */
    const url =
      environment && isServing(item.look)
        ? reachedAt(deps, { environment, ownerId, published: current?.url })
        : null
    return { ...item, current, latest, url }
  })
}

const byId = <Row extends { id: string }>(rows: Row[]) => new Map(rows.map((row) => [row.id, row]))
