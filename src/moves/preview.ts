import { listDomains } from '../addresses/store.ts'
import { getLastGood } from '../backups/store.ts'
import { offersBackup } from '../backups/backup-first.ts'
import { workloadOf } from '../backups/subject.ts'
import type { Subject } from '../backups/subject.ts'
import { whyUnplaceable } from '../environments/placement.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { leastFree } from '../platform/disk-space.ts'
import type { DiskSpace } from '../platform/disk-space.ts'
import { firstServer } from '../platform/root.ts'
import { hasVolumes, openComponents, volumesIn } from '../runtime/component.ts'
import type { Component } from '../runtime/component.ts'
import { getMove, placementOn } from '../runtime/move-store.ts'
import type { MoveDeps } from '../runtime/moves.ts'
import { isWanted, getLiveRelease, listLiveInstances } from '../runtime/store.ts'
import { versionedStack } from '../services/definition.ts'
import { refuseUnplaceable, whyUnreached } from '../services/placement.ts'
import type { Service } from '../services/store.ts'
import { definitionOf } from '../services/stored-definition.ts'
import { bytes } from '../web/units.ts'
import { moveJson } from './json.ts'
import type { Preview } from './json.ts'

export type PreviewDeps = MoveDeps & { serverEngines: { disks: ReadonlyMap<string, DiskSpace> } }

export type Movable = Exclude<Subject, { kind: 'davit' }>

/** Milliseconds for an engine to say how large volumes are. */
const sizeTimeout = 5000

/** Seconds for the end of the old containers and the start of the new ones. */
const startSeconds = 10

export async function previewMove(deps: PreviewDeps, subject: Movable): Promise<Preview> {
  const { db, serverList } = deps
  const running = findRunning(deps, subject)
  const from = running?.from ?? serverList.pinnedTo(subject.id) ?? firstServer
  const components = running?.components ?? []
  const others = serverList.list().filter(({ id }) => id !== from)
  const volumes = volumesIn(components)
  const size = await sizeOf(deps, { volumes, serverId: from })
  const servers = others.map(async ({ id, name }) => ({
    ...{ id, name },
    refused: running
      ? await whyNotOn(deps, subject, { serverId: id, components, size })
      : 'It doesn’t run. Start it first.',
  }))
  const last = getMove(db, subject.id)
  return {
    ...{ from, bytes: size, servers: await Promise.all(servers) },
    volumes,
    outageSeconds: outageOf(deps, subject, { bytes: size, volumes }),
    backupFirst: volumes.length > 0 && offersBackup(db, subject),
    last: last && moveJson(last),
  }
}

/** Throws when nothing runs that could be moved. */
export function whatRuns(deps: MoveDeps, subject: Movable) {
  const running = findRunning(deps, subject)
  if (running) return running
  throw new AppError(
    'conflict',
    `${subject.name} doesn’t run, so it can’t be moved. Start it first.`,
  )
}

function findRunning({ db, secrets, serverList }: MoveDeps, { id }: Movable) {
  const components = openComponents(secrets, getLiveRelease(db, id))
  const instances = listLiveInstances(db, id).filter(isWanted)
  if (!components || instances.length === 0) return null
  const pinned = hasVolumes(components) ? serverList.pinnedTo(id) : null
  return { components, from: pinned ?? instances[0]!.serverId }
}

/** Null when it may be moved to that server. */
export async function whyNotOn(
  deps: PreviewDeps,
  subject: Movable,
  {
    serverId,
    components,
    size,
  }: { serverId: string; components: Component[]; size: number | null },
) {
  const placement = placementOn(serverId)
  if (subject.kind === 'environment') {
    if (subject.project.composeFile !== null)
      return 'It is an app of a Compose file, which can’t be moved. Change its placement if it has no volumes; else back it up, and restore that into another environment there.'
    const environment = { ...subject.environment, placement }
    const why = whyUnplaceable(deps, { environment })
    if (why) return `Its ${why.field} ${why.reason}`
  }
  try {
    if (subject.kind === 'service') await refuseUnreached(deps, subject.service, { placement })
    // as one that no volume pins
    const workload = { ...workloadOf(subject)!, id: '', placement: { server: serverId } }
    await deps.runtime.place(workload, components)
    const space = deps.serverEngines.disks.get(serverId)
    if (!space || !size || size + leastFree(space) <= space.free) return null
    return `Its disk has ${bytes(space.free)} free, which isn’t enough for ${bytes(size)} of volumes. Make room there first.`
  } catch (error) {
    if (error instanceof Failure && error.code === 'no_server') return sentence(error.cause)
    if (error instanceof Failure || error instanceof AppError)
      return error.message.replace(/^placement/, 'Its placement')
    throw error
  }
}

const sentence = (why: unknown) => `${String(why).replace(/^./, (letter) => letter.toUpperCase())}.`

/** Access to Davit’s own server stays there, and on others only published ports are reached. */
async function refuseUnreached(
  deps: MoveDeps,
  service: Service,
  { placement }: Pick<Service, 'placement'>,
) {
  const definition = { ...(await definitionOf(deps, service)), placement }
  refuseUnplaceable(definition, versionedStack(deps, definition))
  for (const { component, port } of listDomains(deps.db, { serviceId: service.id })) {
    const why = component && port && whyUnreached(definition, { component, port })
    if (why) throw new AppError('conflict', `A domain ${why}`)
  }
}

/** In bytes; null while that is unknown. */
export async function sizeOf(
  { engines }: MoveDeps,
  { volumes, serverId }: { volumes: string[]; serverId: string },
) {
  if (volumes.length === 0) return 0
  try {
    const signal = AbortSignal.timeout(sizeTimeout)
    const { volumes: all } = await engines.of({ serverId }).diskUse({ signal })
    const sizes = all.flatMap(({ name, size }) => (volumes.includes(name) ? [size] : []))
    return sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + size!, 0)
  } catch {
    return null
  }
}

/** By its last move, else by how fast its last backup was. */
function outageOf(
  { db }: MoveDeps,
  { id }: Movable,
  { bytes, volumes }: { bytes: number | null; volumes: string[] },
) {
  if (volumes.length === 0) return 0
  const move = getMove(db, id)
  if (move?.outageMs && move.bytes)
    return Math.ceil((move.outageMs / 1000) * Math.max(1, (bytes ?? move.bytes) / move.bytes))
  const backup = getLastGood(db, id)
  if (!backup?.bytes || !backup.startedAt || !backup.finishedAt) return null
  const seconds = (backup.finishedAt.getTime() - backup.startedAt.getTime()) / 1000
  return Math.ceil(startSeconds + (seconds * (bytes ?? backup.bytes)) / backup.bytes)
}
