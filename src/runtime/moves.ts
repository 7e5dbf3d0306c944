import type { Tx } from '../db/index.ts'
import type { StoredMove } from '../db/stored-move.ts'
import { unlessUsed } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import { bytes as inBytes, counted } from '../web/units.ts'
import { backupsOf, getJob, hasJob } from '../jobs/store.ts'
import type { End } from '../jobs/task.ts'
import { Failure } from '../platform/errors.ts'
import { removeBackupContainers, removeEndedBackups } from './backup-containers.ts'
import { hasVolumes } from './component.ts'
import type { Component } from './component.ts'
import type { RuntimeDeps } from './deps.ts'
import { changeMove, getMove, isOver, placementOn } from './move-store.ts'
import { pinnedTo } from './pin-store.ts'
import type { Outcome, RollOut } from './run.ts'
import { listInstances } from './store.ts'
import { compareVolumes, copyVolumes, ensureCarrier } from './volume-streams.ts'
import type { CarrierDeps } from './volume-streams.ts'
import { filterOf, labelsOf } from './workload.ts'
import type { Workload, WorkloadKey } from './workload.ts'

export type MoveDeps = CarrierDeps & {
  /** Counts what the databases of a workload have on a server. What it returns throws when they differ on another. */
  countData: (
    workload: Workload,
    on: { serverId: string; signal: AbortSignal },
  ) => Promise<(on: { serverId: string; signal: AbortSignal; log: Log }) => Promise<void>>
}

type Log = (text: string) => void

type Moving = {
  move: StoredMove
  workload: Workload
  components: Component[]
  log: Log
  signal: AbortSignal
}

/** Milliseconds for which a server keeps what may be of use yet. */
const keptFor = 7 * 24 * 3_600_000

const keptUntil = () => new Date(Date.now() + keptFor).toISOString()

/**
 * What makes a roll-out a move: its containers start on the other server with the volumes that the old ones had when
 * they stopped. These stay as they are. What fails before the new ones start removes the copies; later these are kept,
 * too, as something may have been written to them.
 */
export async function moving(deps: MoveDeps, run: Moving) {
  const { move, workload, components, log, signal } = run
  const { from, to } = move
  const { id, ownerId } = workload
  if (hasVolumes(components) && pinnedTo(deps.db, id) !== from) throw notThere()
  const isCarried = hasVolumes(components)
  changeMove(deps.db, id, { status: 'running', leftOn: isCarried ? to : null })
  const placement = placementOn(to)
  const end = (tx: Tx, { downtimeMs: outageMs }: Pick<Outcome, 'downtimeMs'>) =>
    changeMove(tx, id, { status: 'succeeded', outageMs, error: null })
  if (!isCarried) return { workload: { ...workload, placement }, hooks: {}, commit: end }
  for (const serverId of [from, to]) {
    await ensureCarrier(deps, { serverId, ownerId, signal }, log)
    // of a process that was killed
    await removeBackupContainers({ ...deps, docker: deps.engines.of({ serverId }) }, { signal })
  }
  // what would be refused once the old ones have stopped must not stop them
  const old = listInstances(deps.db, id).flatMap(({ containerId }) => containerId ?? [])
  await listCarried(deps, run, { users: old })
  const compare = await deps.countData(workload, { serverId: from, signal })
  let bytes = 0
  const hooks: Pick<RollOut['hooks'], 'stopped' | 'started'> = {
    async stopped() {
      // of a process that was killed; only now, as the old ones start again when this fails
      if (move.leftUntil !== null) throw interrupted()
      bytes = await carry(deps, run)
      changeMove(deps.db, id, { leftUntil: keptUntil() })
    },
    started: () => compare({ serverId: to, signal, log }),
  }
  return {
    workload: { ...workload, placement, movesTo: to },
    strategy: 'stop-first' as const,
    hooks,
    commit(tx: Tx, outcome: Pick<Outcome, 'downtimeMs'>) {
      if (!deps.serverList.list().some((one) => one.id === to)) throw notThere()
      end(tx, outcome)
      changeMove(tx, id, { bytes, leftOn: from, leftUntil: keptUntil() })
    },
  }
}

/** Copies all volumes that it has, while nothing writes to them. Returns their bytes. */
async function carry(deps: MoveDeps, run: Moving) {
  const { move, workload, log, signal } = run
  const volumes = await listCarried(deps, run, { users: [] })
  const target = deps.engines.of({ serverId: move.to })
  const labels = labelsOf(deps.instanceId, workload)
  for (const name of volumes) await target.createVolume({ name, labels, signal })
  log(`Copying ${volumes.length === 1 ? 'its volume' : `${volumes.length} volumes`}`)
  const begun = performance.now()
  const { ownerId } = workload
  const of = { from: move.from, to: move.to, volumes, ownerId, signal }
  const bytes = await copyVolumes(deps, of)
  const copied = performance.now()
  const inSeconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1)
  log(`Copied ${inBytes(bytes)} in ${inSeconds(begun)} s`)
  const files = await compareVolumes(deps, of)
  log(`Compared ${counted(files, 'file')} with the copy in ${inSeconds(copied)} s: all the same`)
  return bytes
}

/** The names of its volumes. Throws when one of those that are mounted isn’t there, or others than `users` use them. */
async function listCarried(
  deps: MoveDeps,
  { move: { from: serverId }, workload, components, signal }: Moving,
  { users }: { users: string[] },
) {
  const docker = deps.engines.of({ serverId })
  const volumes = await listVolumes(deps, workload, serverId)
  const mounted = components.flatMap(({ options }) => options.volumes ?? [])
  const missing = mounted.find(({ name }) => !volumes.includes(name))
  if (missing) throw notThere(missing.name)
  const labels = filterOf(deps.instanceId, workload)
  for (const { id } of await docker.listContainers({ labels, all: true, signal })) {
    const container = users.includes(id) ? null : await docker.inspectContainer(id, { signal })
    const isUser = container?.mounts.some(({ source }) => volumes.includes(source ?? ''))
    // one that was only created may start in this moment
    if (container && isUser && !['exited', 'dead'].includes(container.state))
      throw inUse(container.name)
  }
  return volumes
}

async function listVolumes(
  { engines, instanceId }: Pick<RuntimeDeps, 'engines' | 'instanceId'>,
  { id, kind }: WorkloadKey,
  serverId: string,
) {
  const of = kind === 'service' ? { serviceId: id } : { environmentId: id }
  const labels = labelFilter(instanceId, of)
  return (await engines.of({ serverId }).listVolumes({ labels })).map(({ name }) => name)
}

const interrupted = () =>
  new Failure(
    'move_interrupted',
    'Davit ended after it had started on the other server, where something may have been written since.',
    'It runs where it was, as it was. The copy there stays for seven days. Move it again to delete that first.',
  )

const inUse = (container: string) =>
  new Failure(
    'move_in_use',
    `${container} still writes to its volumes, so they weren’t copied.`,
    'Wait until that command has ended, or cancel it, then move again.',
  )

const notThere = (volume?: string) =>
  new Failure(
    'move_not_there',
    volume
      ? `Its volume ${volume} isn’t on the server that it runs on, so it would be empty on the other one.`
      : 'Its volumes aren’t where they were when the move was asked for.',
    volume
      ? 'Deploy it, or change it, where it is, then move it.'
      : 'Look where it is, then move it again.',
  )

/** Stores how the job of a move has ended, unless its commit did. */
export function endMove(
  { db, engines }: Pick<RuntimeDeps, 'db' | 'engines'>,
  { id, subjectId }: { id: string; subjectId: string },
  end: Exclude<End, { status: 'done' }>,
) {
  const move = getMove(db, subjectId)
  if (move?.id !== id || isOver(move)) return
  const error = end.status === 'failed' ? `${end.failure.message} ${end.failure.hint}` : null
  const isDown = move.leftOn !== null && engines.isAway({ serverId: move.from })
  changeMove(db, subjectId, { status: end.status, error, isDown })
}

/**
 * Removes the volumes that a move has left, once it is time: on the new server when it failed, else on the old one.
 * Only those that the server has which it is pinned to, now; a copy that may not be whole also when no server has any.
 * Does nothing while its job is there, a backup may read them, either server is away, or anything of the workload is
 * on the other one.
 */
export async function settleMove(
  deps: RuntimeDeps,
  workload: WorkloadKey,
  { signal }: { signal: AbortSignal },
) {
  const { db, engines, instanceTasks, serverList } = deps
  const move = getMove(db, workload.id)
  if (!move || getJob(db, move.id)) return
  if (!isOver(move)) changeMove(db, workload.id, { status: 'cancelled' }) // another deployment took its place
  const { leftOn: serverId, leftUntil } = move
  if (serverId === null || (leftUntil !== null && Date.now() < Date.parse(leftUntil))) return
  if (hasJob(db, backupsOf(workload.id))) return
  const isKnown = (server: string) => serverList.list().some(({ id }) => id === server)
  const pinned = pinnedTo(db, workload.id)
  const isSpare =
    pinned === null
      ? move.status !== 'succeeded' && leftUntil === null
      : pinned !== serverId && isKnown(pinned)
  if (isSpare && isKnown(serverId)) {
    if ([serverId, pinned ?? serverId].some((one) => engines.isAway({ serverId: one }))) return
    const listThere = () =>
      listInstances(db, workload.id).filter((one) => one.serverId === serverId)
    await instanceTasks.ended(listThere(), signal)
    if (listThere().length > 0) return
    const docker = engines.of({ serverId })
    await removeBackupContainers({ ...deps, docker }, { signal }) // of a process that was killed
    const alive = await listVolumes(deps, workload, pinned ?? serverId)
    const left = await listVolumes(deps, workload, serverId)
    await removeEndedBackups({ ...deps, docker }, { volumes: left, signal })
    for (const name of left) {
      signal.throwIfAborted()
      if (getMove(db, workload.id)?.id !== move.id || pinnedTo(db, workload.id) !== pinned) return
      if (!alive.includes(name)) continue
      if (!(await unlessUsed(docker.removeVolume(name)))) return
    }
  }
  if (getMove(db, workload.id)?.id === move.id)
    changeMove(db, workload.id, { leftOn: null, leftUntil: null })
}
