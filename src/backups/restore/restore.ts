import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { giveBack } from '../../docker/lent.ts'
import type { StoredReplaced } from '../../db/schema.ts'
import type { LogWriter } from '../../logs/log-writer.ts'
import { allEnded } from '../../platform/pause.ts'
import { firstServer } from '../../platform/root.ts'
import { volumesIn as mountedIn } from '../../runtime/component.ts'
import { ensureCarrier, receiveVolumes } from '../../runtime/volume-streams.ts'
import type { Workload } from '../../runtime/workload.ts'
import { volumeNameOf } from '../../services/compose/containers.ts'
import { bytes, counted } from '../../web/units.ts'
import { recipeIn, volumesThere, whereDataIs } from '../data.ts'
import type { BackupDeps } from '../deps.ts'
import { canWriteTo, untilCommandsEnd, whileHeld } from '../hold.ts'
import type { HoldingWork } from '../hold.ts'
import { fileReader } from '../read-file.ts'
import { filesOverErased, inspect, load, mayEndInPart, settled, sizeOf } from '../recipes/index.ts'
import { untilReady } from '../recipes/ready.ts'
import { openRepository } from '../repository.ts'
import type { Restic } from '../restic/restic.ts'
import { mountOf } from '../restic/volumes.ts'
import { shortName } from '../store-subject.ts'
import type { Backup } from '../store.ts'
import { findSubject, workloadOf } from '../subject.ts'
import type { SubjectKey } from '../subject.ts'
import { noSubject, notUsed, noVolume, overDatabase } from './refusals.ts'
import { serversFor } from './servers.ts'
import type { Live, Server } from './servers.ts'
import { createUnmounted } from './unmounted.ts'

type Restoring = {
  backup: Backup
  /** What its data replaces that of. */
  into: SubjectKey & { isNew: boolean }
  /** What chooses one alone; null for all that it has. */
  database: string | null
  /** False when they have been filled already. */
  withVolumes: boolean
  /** True when its servers may have been started just now, and aren’t ready yet. */
  isStarting: boolean
  log: LogWriter
  work: HoldingWork
  /** Called for each thing before it is in part that of the backup, and once all of it is. */
  note: (what: string, how: keyof StoredReplaced) => void
}

/**
 * Replaces the data of a service or environment by that of a backup, of it or another one. All that can be refused is refused before
 * anything is replaced, and what is removed first is only removed once all that takes its place was read. Volumes
 * are replaced while what writes to them is stopped. It can be repeated.
 */
export async function restore(deps: BackupDeps, restoring: Restoring) {
  const { backup, into, database, isStarting, log, work } = restoring
  const { signal } = work
  const subject = findSubject(deps.db, { ...into, ownerId: backup.ownerId })
  const workload = subject && workloadOf(subject)
  if (!workload) throw noSubject(backup)
  log.write(`Restoring ${database ?? 'it'} into ${subject.name}.`)
  const say = (line: string) => log.write(line)
  await using restic = await openRepository(deps, backup, { say, inOne: true })
  const live = await recipeIn(deps, { subject, workload })
  await using tools = new AsyncDisposableStack()
  const volumes =
    database === null && restoring.withVolumes
      ? await mountsFor(deps, { backup, workload, isNew: into.isNew })
      : []
  const opening = { backup, database, isStarting, live, workload, tools, signal }
  const [, servers] = await allEnded([
    restic.list({ signal }),
    serversFor(deps, { ...opening, volumes: volumesIn(volumes) }),
  ])
  const namesOf = (all: string[]) => all.map((one) => shortName(workload, one)).join(', ')
  const over = volumesOver(servers, { live, volumes })
  if (over.length > 0) throw overDatabase(namesOf(over))
  const unused = unusedOf(live, volumes)
  const names = namesOf(unused)
  const isInVain = servers.length === 0 && unused.length === volumesIn(volumes).length
  if (unused.length > 0 && isInVain && !into.isNew) throw notUsed(names, backup)
  if (names)
    log.write(`Restored too, though no container of ${subject.name} uses it now: ${names}.`)
  // what is loaded into a server must not be replaced by files of it, and it must run for that
  const isOverFiles = servers.some((one) => canWriteTo(one, volumesIn(volumes)))
  if (into.isNew) await createUnmounted(deps, { subject, workload, names: unused, signal })
  else await readFirst({ ...restoring, restic, servers, volumes, isOverFiles })
  // no other may begin meanwhile, and what is replaced must not wait half done
  await untilCommandsEnd(deps, holding(restoring, { workload, volumes: volumesIn(volumes) }))
  const there = whereDataIs(deps, workload)
  const down = servers.filter(({ isDown }) => isDown)
  const starts = down.map(({ target }) => target.containerId)
  const replaceVolumes = () =>
    restoreVolumes(deps, { ...restoring, restic, workload, volumes, starts })
  for (const { contents } of down)
    log.write(`${contents.component} doesn’t respond: it is loaded once its files are replaced.`)
  if (isOverFiles) {
    await replaceVolumes()
    for (const { target } of servers) {
      await target.tools?.[Symbol.asyncDispose]() // they share the network that the server had
      await untilReady(there, { ...target, signal })
    }
  }
  for (const server of servers) await restoreInto(there, { ...restoring, restic, ...server })
  if (!isOverFiles && volumes.length > 0) await replaceVolumes()
  // both at once, where leaving would wait for one after the other
  await allEnded([tools.disposeAsync(), restic[Symbol.asyncDispose]()])
}

/** What the target doesn’t have whole, or has changed, must not cost the old data: reads all of it to nowhere. */
async function readFirst({
  backup,
  ...reading
}: Restoring & { restic: Restic; servers: Server[]; volumes: Mounts; isOverFiles: boolean }) {
  const { restic, servers, volumes, isOverFiles, log, work } = reading
  const overErased = [
    ...servers.flatMap(({ target, contents, only }) =>
      filesOverErased({ ...target, contents, database: only }),
    ),
    ...volumes.map(({ file }) => file),
  ]
  const files = isOverFiles ? backup.files.map(({ file }) => file) : overErased
  if (files.length === 0) return
  log.write('Reading the backup before anything is removed for it.')
  const read = fileReader(backup, restic)
  for (const file of files) await read(file, nowhere(), work.signal)
}

const nowhere = () =>
  new Writable({
    write(chunk: Uint8Array, _, done) {
      giveBack(chunk)
      done()
    },
  })

async function restoreInto(deps: BackupDeps, loading: Restoring & Server & { restic: Restic }) {
  const { backup, only, log, note, restic, target, contents } = loading
  const { signal } = loading.work
  const { component } = contents
  log.write(`Loading ${only ?? 'the databases'} of ${component}.`)
  const read = fileReader(backup, restic)
  const what = `the databases of ${component}`
  const which = { contents, database: only }
  if (mayEndInPart({ ...target, ...which })) note(what, 'part')
  await load(deps, { ...target, ...which, read, signal })
  note(what, 'whole')
  await settled(deps, { ...target, signal })
  const { databases } = await inspect(deps, { ...target, signal })
  const loaded = databases.filter(({ name }) => only === undefined || name === only)
  const { tables, rows } = sizeOf(loaded)
  log.write(`${component} has ${counted(tables, 'table')} and ${counted(rows, 'row')} now.`)
}

/** Volumes that the backup has and the subject, too; a new service is to get those that it doesn’t mount. */
async function mountsFor(
  deps: BackupDeps,
  { backup, workload, isNew }: { backup: Backup; workload: Workload; isNew: boolean },
) {
  const there = await volumesThere(deps, workload)
  return backup.files.flatMap(({ file, snapshot, bytes: size, volumes: names }) =>
    names
      ? {
          ...{ file, snapshot, bytes: size },
          volumes: names.map((name) => {
            const known = there.find((one) => shortName(workload, one) === name)
            const volume = known ?? (isNew && volumeNameOf(workload.id, name))
            if (!volume) throw noVolume(name, backup)
            return { volume, path: `/${name}` }
          }),
        }
      : [],
  )
}

type Mounts = Awaited<ReturnType<typeof mountsFor>>

const volumesIn = (mounts: Mounts) =>
  mounts.flatMap(({ volumes }) => volumes.map(({ volume }) => volume))

/** Those that an update has left behind, such as by renaming one. */
function unusedOf({ components }: Live, volumes: Mounts) {
  if (components.length === 0) return [] // it never ran
  const used = mountedIn(components)
  return volumesIn(volumes).filter((volume) => !used.includes(volume))
}

/** Those that have the data of a server that is loaded now. When it was backed up they had something else. */
function volumesOver(servers: Server[], { live, volumes }: { live: Live; volumes: Mounts }) {
  const folders = new Map(
    servers.flatMap((one) => (one.folders ? [[one.contents.component, one.folders]] : [])),
  )
  const { dumped } = live.knowing(folders)
  const loaded = mountedIn(live.components.filter(({ name }) => folders.has(name)))
  return volumesIn(volumes).filter((volume) => dumped.includes(volume) && loaded.includes(volume))
}

/** Half of them would be worse than the old ones, so only Davit’s end or a user stops it. */
async function restoreVolumes(
  deps: BackupDeps,
  replacing: Restoring & {
    restic: Restic
    workload: Workload
    volumes: Mounts
    starts: string[]
  },
) {
  const { log, note, work, restic, workload, volumes: stored, starts } = replacing
  const { signal } = work
  const held = { ...holding(replacing, { workload, volumes: volumesIn(stored) }), starts }
  const toOf = await volumesTo(deps, replacing)
  await whileHeld(deps, held, async () => {
    note('its volumes', 'part')
    for (const { snapshot, volumes, bytes: size } of stored) {
      log.write(`Replacing ${counted(volumes.length, 'volume')} with ${bytes(size)}.`)
      const to = toOf(volumes)
      await restic.readVolumes({ snapshot, volumes, to, signal })
    }
    note('its volumes', 'whole')
  })
}

const holding = (
  { backup, log, work }: Restoring,
  of: { workload: Workload; volumes: string[] },
) => ({ ...of, log, work, backup: { id: backup.id, hold: 'stop' as const }, resumes: true })

/** What another server makes of them what it gets; undefined for Davit’s own. */
async function volumesTo(
  deps: BackupDeps,
  { workload, log, work: { signal } }: Restoring & { workload: Workload },
) {
  const { serverId } = whereDataIs(deps, workload).docker
  if (serverId === firstServer) return () => undefined
  const { ownerId } = workload
  await ensureCarrier(deps, { serverId, ownerId, signal }, (line) => log.write(line))
  return (mounts: Mounts[number]['volumes']) => {
    const volumes = mounts.map(({ volume: name, path }) => ({ name, path: mountOf(path) }))
    return (from: AsyncIterable<Uint8Array>, signal: AbortSignal) =>
      receiveVolumes(deps, { serverId, ownerId, volumes, signal }, (to, signal) =>
        pipeline(from, to, { signal, end: false }),
      )
  }
}
