import { findUser } from '../accounts/store.ts'
import type { StoredContents, StoredFile } from '../db/schema.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import { Failure } from '../platform/errors.ts'
import { sealBackedUp } from '../services/stored-definition.ts'
import { bytes as inBytes, counted } from '../web/units.ts'
import { checksummed } from './checksummed.ts'
import type { BackupDeps, Progress } from './deps.ts'
import { untilCommandsEnd, whileHeld } from './hold.ts'
import type { HoldingWork } from './hold.ts'
import { dataOf, whereDataIs } from './data.ts'
import { sizeOf } from './recipes/index.ts'
import type { DumpFile } from './recipes/index.ts'
import { storeOwnFile } from './own-file.ts'
import type { Restic, Snapshot } from './restic/restic.ts'
import { mountOf } from './restic/volumes.ts'
import { tagsOf } from './retention.ts'
import { firstServer } from '../platform/root.ts'
import { ensureCarrier, sendVolumes } from '../runtime/volume-streams.ts'
import type { Archive, Streamed } from '../runtime/volume-streams.ts'
import type { Workload } from '../runtime/workload.ts'
import { besides } from './sqlite.ts'
import { sqliteCopies } from './sqlite-copies.ts'
import type { SqliteCopies } from './sqlite-copies.ts'
import { getPlan } from './store.ts'
import type { Backup } from './store.ts'
import { workloadOf } from './subject.ts'
import type { Subject } from './subject.ts'

type Doing = {
  backup: Backup
  subject: Subject
  restic: Restic
  /** Disposed of when the backup has ended. */
  used: AsyncDisposableStack
  log: LogWriter
  work: HoldingWork
}

/** What a complete backup has. */
export type Stored = {
  files: StoredFile[]
  bytes: number
  addedBytes: number
  /** Of a service, what another one is created from. */
  definition: string | null
  /** Null without a database. */
  contents: StoredContents[] | null
  rows: number | null
  checksum: string
}

/**
 * Stores the databases of a workload by their own tools, and its other volumes as they are. Small dumps are gathered,
 * for the snapshot that completes the backup.
 */
export async function storeSubject(deps: BackupDeps, doing: Doing): Promise<Stored> {
  const { subject, used, log, work } = doing
  const { signal } = work
  const workload = workloadOf(subject)
  if (!workload) return storeDavit(deps, doing)
  const definition =
    subject.kind === 'service' ? sealBackedUp(deps, subject.service, doing.backup.id) : null
  const data = await dataOf(deps, { subject, workload }, { signal })
  const { databases, unsaved, volumesWith } = data
  if (unsaved.length > 0) log.write(`Not stored, as it is the server’s: ${unsaved.join(', ')}.`)
  const parts: Part[] = []
  const contents: StoredContents[] = []
  const folders = new Map<string, string[]>()
  const expected = volumesWith(folders).volumes
  // nothing is paused for a target that doesn’t respond, or is locked
  if (expected.length > 0 && doing.backup.hold !== 'none') await doing.restic.ready({ signal })
  // before the dumps, which are to be of about the same time
  await untilCommandsEnd(deps, { ...doing, workload, volumes: expected })
  for (const { component, dump } of databases) {
    log.write(`Dumping the database of ${component}.`)
    const each = async (file: DumpFile, signal: AbortSignal) =>
      void parts.push(await storeFile(deps, doing, { ...file, signal }))
    const dumped = await dump(each, { used, signal })
    contents.push(dumped.contents)
    folders.set(component, dumped.folders)
  }
  const { volumes, dumped } = volumesWith(folders)
  const names = dumped.map((volume) => shortName(workload, volume)).join(', ')
  if (names) log.write(`Not stored as files, as they are those of databases: ${names}.`)
  if (volumes.length > 0) parts.push(await storeVolumes(deps, doing, { workload, volumes }))
  if (parts.length === 0) throw nothingToStore(subject)
  parts.sort((a, b) => (a.file < b.file ? -1 : 1))
  return { ...storedOf(parts, contents), definition }
}

async function storeDavit(deps: BackupDeps, doing: Doing): Promise<Stored> {
  const { signal } = doing.work
  const { role, disabledAt } = findUser(deps.db, doing.backup.ownerId)
  if (role !== 'admin' || disabledAt) throw noAdmin()
  doing.log.write('Copying Davit’s own data.')
  return storeOwnFile(deps, {
    signal,
    store: async (file, contents) =>
      storedOf([await storeFile(deps, doing, { ...file, signal })], [contents]),
  })
}

/** In place of the snapshot of files that are stored together, before that is made. */
export const together = ''

type Part = StoredFile & Pick<Snapshot, 'addedBytes'>

async function storeFile(
  deps: BackupDeps,
  doing: Doing,
  { signal, ...file }: DumpFile & { signal: AbortSignal },
): Promise<Part> {
  const { backup, restic, log } = doing
  const sum = checksummed(file.write)
  const stored = await restic.gather({
    ...{ file: file.name, tags: tagsOf(backup), from: sum.write, signal },
    progress: progressOf(deps, doing, file.name),
  })
  const { bytes, checksum } = sum.result()
  if (bytes === 0) throw emptyDump(file.name)
  if (stored && stored.bytes !== bytes) throw cutOff(file.name)
  log.write(`${stored ? 'Stored' : 'Dumped'} ${file.name}, ${inBytes(bytes)}.`)
  const { id: snapshot, addedBytes } = stored ?? { id: together, addedBytes: 0 }
  return { file: file.name, snapshot, bytes, checksum, addedBytes }
}

async function storeVolumes(
  deps: BackupDeps,
  doing: Doing,
  { workload, volumes }: { workload: Workload; volumes: string[] },
): Promise<Part> {
  const { backup, restic, log, work } = doing
  const { signal } = work
  const mounts = volumes.map((volume) => ({ volume, path: `/${shortName(workload, volume)}` }))
  const names = mounts.map(({ path }) => path.slice(1))
  const { serverId } = whereDataIs(deps, workload).docker
  const mounted = mounts.map(({ volume: name, path }) => ({ name, path: mountOf(path) }))
  const streamed = { serverId, ownerId: workload.ownerId, volumes: mounted, signal }
  const isHere = serverId === firstServer
  if (!isHere) await ensureCarrier(deps, streamed, (line) => log.write(line))
  const store = async () => {
    const accepted = getPlan(deps.db, backup.subjectId)?.acceptDamaged ?? []
    const copies =
      backup.hold === 'none' ? await sqliteCopies(deps, { ...streamed, accepted, log }) : null
    const how = isHere ? { copies } : { from: volumesFrom(deps, streamed, copies) }
    log.write(`Storing ${counted(names.length, 'volume')}: ${names.join(', ')}.`)
    const tags = tagsOf(backup)
    const progress = progressOf(deps, doing, 'volumes')
    const { id, bytes, addedBytes } = await restic.storeVolumes({
      ...{ volumes: mounts, tags, progress, signal, ...how },
    })
    log.write(`Stored ${inBytes(bytes)} of volumes.`)
    return { file: 'volumes', snapshot: id, bytes, checksum: null, volumes: names, addedBytes }
  }
  return whileHeld(deps, { backup, workload, volumes, log, work }, store)
}

/**
 * What another server sends of them. Davit’s own restic, with the keys and the targets, stores a copy of their files
 * here: so they are stored as those of any server are, and only what changed is sent to the target.
 */
const volumesFrom =
  (deps: BackupDeps, streamed: Streamed, copies: SqliteCopies | null): Archive =>
  async (to, signal) => {
    await copies?.send(to, signal)
    await sendVolumes(deps, { ...streamed, without: besides(copies?.files ?? []), signal }, to)
  }

/** As in its settings or its file. */
export const shortName = ({ id }: Workload, volume: string) =>
  volume.startsWith(`davit-${id}-`) ? volume.slice(`davit-${id}-`.length) : volume

function progressOf({ progress, changes }: BackupDeps, { backup }: Doing, file: string) {
  return (now: Omit<Progress, 'file'>) => {
    progress.set(backup.id, { file, ...now })
    changes.touch(backup.id)
  }
}

function storedOf(parts: Part[], contents: StoredContents[]): Stored {
  const sum = (values: number[]) => values.reduce((all, one) => all + one, 0)
  const { rows } = sizeOf(contents.flatMap(({ databases }) => databases))
  const hash = new Bun.CryptoHasher('sha256')
  for (const { file, checksum, snapshot } of parts)
    hash.update(`${checksum ?? snapshot}  ${file}\n`)
  return {
    files: parts.map(({ addedBytes: _, ...file }) => file),
    bytes: sum(parts.map(({ bytes }) => bytes)),
    addedBytes: sum(parts.map(({ addedBytes }) => addedBytes)),
    contents: contents.length > 0 ? contents : null,
    rows: contents.length > 0 ? rows : null,
    checksum: hash.digest('hex'),
    definition: null,
  }
}

const emptyDump = (file: string) =>
  new Failure(
    'dump_empty',
    `The dump ${file} is empty.`,
    'Check the log of the database, then back up again.',
  )

const cutOff = (file: string) =>
  new Failure(
    'not_stored',
    `Not all of ${file} reached the target.`,
    'Check the connection to it, then back up again.',
  )

const noAdmin = () =>
  new Failure(
    'backup_not_allowed',
    'Davit wasn’t backed up: whoever asked for it is no longer an admin.',
    'Plan it again as an admin, to a target of yours.',
  )

const nothingToStore = ({ name }: Subject) =>
  new Failure(
    'nothing_to_back_up',
    `${name} has no volume and no database that Davit recognises, so there is nothing to back up.`,
    'Remove its plan, or give it a volume for what it writes.',
  )
