import { listRestored, noteToLoad, noteToStart } from '../../db/restored.ts'
import { labelFilter } from '../../docker/labels.ts'
import { Failure } from '../../platform/errors.ts'
import { spaceOf } from '../../platform/disk-space.ts'
import { firstServer } from '../../platform/root.ts'
import { openComponents } from '../../runtime/component.ts'
import { pinnedTo } from '../../runtime/pins.ts'
import { getLiveRelease } from '../../runtime/store.ts'
import { createEmptyVolume } from '../../runtime/restored-volumes.ts'
import { getServer } from '../../servers/store.ts'
import { bytes as inBytes, counted } from '../../web/units.ts'
import type { ResticDeps, Restic } from '../restic/restic.ts'
import { turnPlanOff } from '../start.ts'
import { getLastGood, getPlan, volumesIn } from '../store.ts'
import type { Backup } from '../store.ts'
import { workloadOf } from '../subject.ts'
import type { Subject } from '../subject.ts'
import { noteFilling } from './half-filled.ts'
import { listOthers, openTargets } from './known-targets.ts'
import type { Filling } from './known-targets.ts'
import { listSubjects } from './store.ts'

type Chosen = { subject: Subject; backup: Backup; restic: Restic }

/**
 * Fills the volumes of each service and environment that this server has nothing of, from its newest backup on
 * any target, and notes the databases to load. What Docker has of one stays as it is.
 */
export async function fillServer(deps: ResticDeps, filling: Filling) {
  const { say, isDry } = filling
  refuseUnknown(deps, filling)
  const opened = await openTargets(deps, filling)
  const chosen: Chosen[] = []
  for (const subject of listSubjects(deps.db)) {
    const found = await chooseFor(deps, filling, { subject, opened })
    if (found) chosen.push(found)
  }
  await refuseTaken(deps, filling, chosen)
  await refuseFullDisk(deps, chosen)
  for (const one of chosen) {
    const { subject, backup } = one
    const parts = backup.files.filter(({ volumes }) => volumes)
    const names = volumesIn(backup)
    const does = [
      ...(names.length > 0 ? [`volumes ${names.join(', ')}`] : []),
      ...(backup.contents ? ['databases, which are loaded when Davit runs'] : []),
    ]
    say(
      `${subject.name}: backup of ${backup.createdAt.toISOString()}, ${inBytes(backup.bytes ?? 0)}: ${does.join('; ')}.`,
    )
    if (isDry) continue
    for (const { snapshot, volumes = [] } of parts)
      await fillVolumes(deps, filling, { ...one, snapshot, names: volumes })
    if (backup.contents) noteDatabases(deps, filling, one)
  }
}

/** A name that is mistyped would leave nothing out. */
function refuseUnknown({ db }: ResticDeps, filling: Filling) {
  const all = [...listOthers(db, filling), ...listSubjects(db)].map(({ name }) => name)
  const unknown = filling.without.filter((name) => !all.includes(name))
  if (unknown.length === 0) return
  throw new Failure(
    'restore_without',
    `There is nothing called “${unknown.join('”, “')}” to leave out.`,
    all.length === 0
      ? 'There is nothing to leave out: run it without --without.'
      : `Name targets, services or environments: ${all.join(', ')}.`,
  )
}

/** Says why when nothing is restored. */
async function chooseFor(
  deps: ResticDeps,
  filling: Filling,
  { subject, opened }: { subject: Subject; opened: Awaited<ReturnType<typeof openTargets>> },
): Promise<Chosen | null> {
  const { db, docker, secrets } = deps
  const { until, without, halfFilled, installation: instanceId, say, signal } = filling
  const { id, kind, name } = subject
  const pinned = pinnedTo(db, id) ?? firstServer
  if (pinned !== firstServer) {
    const server = getServer(db, pinned)?.name ?? 'a server that was removed'
    say(`${name}: stays as it is on ${server}, which has its volumes.`)
    return null
  }
  const of = kind === 'service' ? { serviceId: id } : { environmentId: id }
  const labels = labelFilter(instanceId, of)
  const all = await docker.listVolumes({ labels })
  const volumes = all.filter(({ name }) => !halfFilled.has(name))
  const isThere =
    volumes.length > 0 || (await docker.listContainers({ labels, all: true, signal })).length > 0
  if (isThere) {
    say(`${name}: stays as Docker has it here.`)
    return null
  }
  const isLeftOut = without.includes(name)
  const backup = getLastGood(db, id, until)
  const restic = backup && opened.get(backup.targetId)?.restic
  if (backup && restic && !isLeftOut) return { subject, backup, restic }
  const components = openComponents(secrets, getLiveRelease(db, id)) ?? []
  if (isLeftOut) say(`${name}: left out.`)
  else if (backup)
    say(`${name}: starts empty, as the target of its backup was left out or removed.`)
  else if (components.some(({ options }) => (options.volumes ?? []).length > 0))
    say(`${name}: starts empty, as it has no backup.`)
  const target = opened.get(getPlan(db, id)?.targetId ?? '')
  // a target that wasn’t opened may have some that aren’t known
  const mayHaveBackups = getLastGood(db, id) !== null || !target || target.subjects.has(id)
  if (mayHaveBackups) keepBackups(deps, filling, subject)
  return null
}

function keepBackups({ db }: ResticDeps, { say }: Filling, subject: Subject) {
  if (turnPlanOff(db, subject))
    say(`${subject.name}: its plan is off until you save it, so that its backups stay.`)
}

/** Without labels of this installation they aren’t its volumes, and have data of something else. */
async function refuseTaken({ docker }: ResticDeps, { halfFilled }: Filling, chosen: Chosen[]) {
  const there = new Set((await docker.listVolumes()).map(({ name }) => name))
  for (const { subject, backup } of chosen)
    for (const name of volumesIn(backup)) {
      const taken = volumeOf(subject, name)
      if (there.has(taken) && !halfFilled.has(taken)) throw volumeTaken(subject, taken)
    }
}

const volumeOf = ({ id }: Subject, name: string) => `davit-${id}-${name}`

const volumeTaken = ({ name }: Subject, volume: string) =>
  new Failure(
    'volume_taken',
    `Docker already has a volume ${volume}, which isn’t of this installation.`,
    `Look at what is in it, then remove it: docker volume rm ${volume}. Or leave ${name} out with --without.`,
  )

/** In bytes, for everything at once: half a server would be worse than none. */
async function refuseFullDisk({ docker }: ResticDeps, chosen: Chosen[]) {
  const wanted = chosen.reduce((sum, { backup }) => sum + (backup.bytes ?? 0), 0)
  const { folder } = await docker.info()
  const space = await spaceOf(folder)
  if (!space || space.free >= wanted) return
  throw new Failure(
    'disk_full',
    `The backups need ${inBytes(wanted)} in ${folder}, but only ${inBytes(space.free)} are free.`,
    'Use a larger disk, or leave some out with --without.',
  )
}

async function fillVolumes(
  { config, docker }: ResticDeps,
  { installation, say, signal }: Filling,
  { subject, restic, snapshot, names }: Chosen & { snapshot: string; names: string[] },
) {
  const workload = workloadOf(subject)!
  const owner = { docker, instanceId: installation }
  const volumes = names.map((name) => ({ volume: volumeOf(subject, name), path: `/${name}` }))
  for (const { volume: name } of volumes) {
    await noteFilling({ dataDir: config.dataDir, docker }, { workload, name, signal })
    await createEmptyVolume(owner, { workload, name, signal })
  }
  say(`Filling ${counted(volumes.length, 'volume')} of ${subject.name}.`)
  await restic.readVolumes({ snapshot, volumes, signal })
}

/** They need a server that runs: a service that was stopped is started for it. */
function noteDatabases(deps: ResticDeps, filling: Filling, { subject, backup }: Chosen) {
  const { db } = deps
  const { say } = filling
  const kind = subject.kind === 'service' ? 'service' : 'deployment'
  const live = subject.kind === 'service' ? subject.id : getLiveRelease(db, subject.id)?.id
  const isStarted = listRestored(db, kind).some(({ objectId }) => objectId === live)
  if (!isStarted && subject.kind === 'environment') {
    say(
      `${subject.name}: didn’t run, so its databases aren’t loaded. Restore them on its page once it does.`,
    )
    return keepBackups(deps, filling, subject)
  }
  if (!isStarted) {
    noteToStart(db, subject.id)
    say(`${subject.name}: was stopped; it is started to load its databases.`)
  }
  noteToLoad(db, backup.id)
}
