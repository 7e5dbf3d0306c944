import type { UsagePoller } from '../containers/usage/poller.ts'
import type { Db } from '../db/index.ts'
import { firstServer } from '../platform/root.ts'
import type { ServerEngines } from '../servers/server-engines.ts'
import { ServerFacts } from '../servers/server-facts.tsx'
import { listServers, states } from '../servers/store.ts'
import { counted } from '../web/units.ts'
import { listHeldContainers, useOf } from './store.ts'

type FleetDeps = {
  db: Db
  usage: Pick<UsagePoller, 'latest'>
  serverEngines: Pick<ServerEngines, 'disks'>
}

/** More are in the list of servers: those to look at come first. */
const maxShown = 6

/** The other servers: folded while all are ready. Null with one. */
export function readFleet(deps: FleetDeps) {
  const servers = listServers(deps.db).filter(({ id }) => id !== firstServer)
  if (servers.length === 0) return null
  const containers = Map.groupBy(listHeldContainers(deps.db), ({ serverId }) => serverId)
  const all = servers.map((server) => {
    const use = useOf(deps, containers.get(server.id) ?? [])
    const disk = deps.serverEngines.disks.get(server.id) ?? null
    const { cpus, memoryMb } = server
    const shares = [use.cpu / 100 / cpus, use.memory / 2 ** 20 / memoryMb, (disk?.used ?? 0) / 100]
    return { server, use, disk, fullness: Math.max(...shares) }
  })
  return all.toSorted(
    (a, b) =>
      states.indexOf(b.server.state) - states.indexOf(a.server.state) || b.fullness - a.fullness,
  )
}

type Fleet = NonNullable<ReturnType<typeof readFleet>>

export const FleetStrip = ({ fleet, isAdmin }: { fleet: Fleet; isAdmin: boolean }) => (
  <details class="fleet" open={fleet.some(({ server }) => server.state === 'away')}>
    <summary>
      {counted(fleet.length, 'other server')}: {inStates(fleet)}
    </summary>
    {fleet.slice(0, maxShown).map(({ server, use, disk }) => (
      <ServerFacts
        server={{ ...server, href: isAdmin ? `/settings/servers/${server.id}` : undefined }}
        {...{ use, disk }}
      />
    ))}
    {fleet.length > maxShown && (
      <p class="muted">
        and {fleet.length - maxShown} more
        {isAdmin && (
          <>
            , under <a href="/settings/servers">Servers</a>
          </>
        )}
      </p>
    )}
  </details>
)

/** Such as `2 ready, 1 away`. */
const inStates = (fleet: Fleet) =>
  states
    .map((state) => [fleet.filter(({ server }) => server.state === state).length, state] as const)
    .filter(([count]) => count > 0)
    .map(([count, state]) => `${count} ${state}`)
    .join(', ')
