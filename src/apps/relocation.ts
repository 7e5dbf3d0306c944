import { workloadOf } from '../deployments/steps/deploy.ts'
import { getEnvironmentIn } from '../environments/store.ts'
import { environmentPath } from '../environments/paths.ts'
import { Failure } from '../platform/errors.ts'
import { hasVolumes, openComponents } from '../runtime/component.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import { getServiceName } from '../runtime/endpoint-store.ts'
import { listWorkloadsOn } from '../runtime/routing-store.ts'
import type { Resident } from '../servers/leave.ts'
import { getLiveRelease, isWanted, listInstances } from '../runtime/store.ts'

type OwnedResident = Resident & { ownerId: string | null }

/** What would happen to each app and service on a server if that were drained. */
export async function previewDrain(deps: RuntimeDeps, server: { id: string }) {
  const all: Resident[] = []
  for (const { id } of listWorkloadsOn(deps.db, server.id)) {
    const one = await findResident(deps, server, id)
    if (!one) continue
    const { ownerId: _, ...resident } = one
    all.push(resident)
  }
  return all
}

/** Null for one of which nothing stays on that server anyway. */
export async function findResident(
  deps: RuntimeDeps,
  server: { id: string },
  id: string,
): Promise<OwnedResident | null> {
  const { db, secrets } = deps
  const all = listInstances(db, id)
  const there = all.filter((one) => one.serverId === server.id && lasting.has(one.state))
  if (there.length === 0) return null
  const found = getEnvironmentIn(db, id)
  if (!found) {
    const name = getServiceName(db, id) ?? id
    const of = { id, kind: 'service', name, href: `/services/${id}`, ownerId: null } as const
    return { ...of, stays: hasData('It is a service') }
  }
  const { environment, project } = found
  const resident = (stays: Resident['stays']): OwnedResident => ({
    ...{ id, kind: 'environment', name: `${project.name} ${environment.name}` },
    ...{ href: environmentPath(environment), ownerId: project.ownerId, stays },
  })
  if (there.some(({ state }) => state === 'stopped'))
    return resident({ why: 'It is stopped.', todo: 'Deploy it: the new version starts elsewhere.' })
  // its parts move one by one, which only is no harm where none of them serves any more
  if (project.composeFile !== null && !deps.engines.isLost({ serverId: server.id }))
    return resident({
      why: 'It is an app of a Compose file, which runs as a whole.',
      todo: 'Deploy it: all of it then runs where its placement allows.',
    })
  const components = openComponents(secrets, getLiveRelease(db, id))
  if (!components)
    return resident({ why: 'It was found after a restore.', todo: 'Deploy it: that moves it.' })
  if (hasVolumes(components) || deps.serverList.pinnedTo(id) === server.id)
    return resident(hasData('It has volumes'))
  const names = new Set(there.filter(isWanted).map(({ component }) => component))
  const wanted = components.filter(({ name }) => names.has(name))
  try {
    const beside = { components, serverId: undefined, leaving: server.id }
    await deps.runtime.place(workloadOf(found), wanted, beside)
    return resident(null)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'no_server') throw error
    const why = `${String(error.cause).replace(/^./, (letter) => letter.toUpperCase())}.`
    return resident({ why, todo: 'Change its placement, or add a server that has the labels.' })
  }
}

/** Of instances that stay what they are until someone changes that. */
const lasting = new Set(['live', 'unhealthy', 'stopped', 'standby'])

const hasData = (what: string) => ({
  why: `${what}, and its data is on this server.`,
  todo: 'Move it to another server: its data goes along.',
})
