import type { LiveDeps } from '../apps/live.ts'
import { environmentPath } from '../environments/paths.ts'
import { lookOfApp, processesOf } from '../map/states.ts'
import { listLive } from '../map/store.ts'
import { servicePath } from '../services/own-service.ts'
import { statusOf } from '../services/shown.ts'
import { lookOfStatus, toneRanks } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { listApps, listOwnServices } from './store.ts'

type AppRow = ReturnType<typeof listApps>[number]
type ServiceRow = ReturnType<typeof listOwnServices>[number]

export type Item = {
  id: string
  /** An app's name includes its project's. */
  name: string
  href: string
  look: Look
  /** The id of the latest deployment or release, or its own: ids sort by time of creation. */
  activity: string
} & ({ kind: 'app'; app: AppRow; isUp: boolean } | { kind: 'service'; service: ServiceRow })

/** All apps and services of a user that aren't being deleted, in a fixed number of queries. */
export function readInventory(deps: LiveDeps, ownerId: string): Item[] {
  const apps = listApps(deps.db, ownerId)
  const services = listOwnServices(deps.db, ownerId)
  const live = listLive(
    deps.db,
    [...apps, ...services].map(({ id }) => id),
  )
  const instances = Map.groupBy(live, ({ workloadId }) => workloadId)
  return [
    ...apps.map((app): Item => {
      const processes = processesOf(deps, { processes: [] }, instances.get(app.id) ?? [])
      const { look } = lookOfApp({ ...app, processes })
      return {
        ...{ kind: 'app', id: app.id, name: `${app.project} / ${app.name}` },
        ...{ href: environmentPath(app), look, app },
        activity: app.latest?.id ?? app.id,
        isUp: processes.length > 0,
      }
    }),
    ...services.map((service): Item => ({
      ...{ kind: 'service', id: service.id, name: service.name, href: servicePath(service) },
      look: lookOfStatus(statusOf(deps, service, instances.get(service.id))),
      ...{ activity: service.releaseId ?? service.id, service },
    })),
  ]
}

export const activityOf = ({ activity: id, name, look }: Item) => ({
  id,
  name,
  rank: toneRanks[look.tone],
})

/** The text that the dashboard's search looks in. */
export const textOf = (item: Item) =>
  item.kind === 'app' ? item.name : `${item.name} ${item.service.template}`
