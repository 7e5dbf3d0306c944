import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fillingCapabilities, literal, volumesFolder } from '../../runtime/volume-streams.ts'
import type { Archive } from '../../runtime/volume-streams.ts'
import { storedName } from './gather.ts'
import { runRestic } from './run.ts'
import type { Opened } from './run.ts'
import type { SqliteCopies } from '../sqlite-copies.ts'
import { besides } from '../sqlite.ts'
import {
  arrivingScript,
  backup,
  copiesFolder,
  copyingScript,
  leavingScript,
  measureScript,
  refillScript,
  updateScript,
} from './scripts.ts'
import { summaryOf } from './snapshots.ts'
import type { Snapshot, SnapshotOf, Storing } from './snapshots.ts'

type MountedVolume = { volume: string; path: string }

type Snapshots = {
  find: (of: SnapshotOf) => Promise<{ current: string }>
  /** Call it before snapshots change. */
  changed: () => void
}

/** For volumes that aren’t on this server, which has room for a copy of them meanwhile. */
const staged = { scratch: [volumesFolder, copiesFolder], capabilities: fillingCapabilities }

const reads = { capabilities: ['DAC_READ_SEARCH'] }

/** For copies, after which the archive ends as one does: with two empty blocks. */
const copying = ({ send }: SqliteCopies) => ({
  capabilities: [...reads.capabilities, ...fillingCapabilities],
  ...{ scratch: [copiesFolder], script: copyingScript, isRepeatable: true },
  async stdin(to: Writable, signal: AbortSignal) {
    await send(to, signal)
    await pipeline([Buffer.alloc(1024)], to, { signal, end: false })
  },
})

/** Where it is in a snapshot, and in an archive. */
export const mountOf = (path: string) => `${volumesFolder}/${storedName(path)}`

/** What a repository does with volumes, in a container that has them. */
export function volumeCalls(opened: Opened, { find, changed }: Snapshots) {
  /**
   * Stores volumes, which it can only read, with `copies` in place of what they have; or what arrives of them from
   * another server. `rereads` also files that seem to be those of an earlier snapshot. Throws a Failure when a file
   * couldn't be read, which `isPartial` leaves out.
   */
  async function storeVolumes({
    volumes,
    from,
    copies,
    rereads = false,
    isPartial = false,
    ...storing
  }: Storing & {
    volumes: MountedVolume[]
    from?: Archive | undefined
    copies?: SqliteCopies | null
    rereads?: boolean
    isPartial?: boolean
  }): Promise<Snapshot> {
    changed()
    const mounted = volumes.map(({ volume, path }) => ({ name: volume, path: mountOf(path) }))
    const reading = rereads ? '--force' : '--ignore-inode'
    const without = besides(copies?.files ?? []).map((path) => `--exclude=${literal(path)}`)
    const paths = [...mounted.map(({ path }) => path), ...(copies ? [copiesFolder] : [])]
    const args = [...backup(storing.tags), reading, ...without, ...paths]
    const readOnly = mounted.map((one) => ({ ...one, readOnly: true }))
    const how = from
      ? { ...staged, stdin: from, script: arrivingScript }
      : { volumes: readOnly, ...(copies ? copying(copies) : reads) }
    return summaryOf(await runRestic(opened, { args, isPartial, ...how, ...storing }))
  }

  /**
   * Makes volumes as they were stored, or passes that on to another server. What they have is removed first, or kept
   * where it is the same with `isUpdate`.
   */
  async function readVolumes({
    snapshot,
    volumes,
    to,
    isUpdate = false,
    progress,
    signal,
  }: SnapshotOf & {
    volumes: MountedVolume[]
    to?: ((from: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>) | undefined
    isUpdate?: boolean
    progress?: Storing['progress']
  }) {
    const { current } = await find({ snapshot, signal })
    const mounted = volumes.map(({ volume, path }) => ({ name: volume, path: mountOf(path) }))
    const paths = mounted.flatMap(({ path }) => [path, copiesFolder + path])
    const include = paths.flatMap((path) => ['--include', path])
    const args = ['--json', 'restore', current, '--target', '/', ...include]
    const refill = {
      ...{ script: isUpdate ? updateScript : refillScript, volumes: mounted },
      scratch: [copiesFolder],
      capabilities: [...fillingCapabilities, 'SETFCAP'],
    }
    const how = to ? { ...staged, stdout: to, script: leavingScript } : refill
    await runRestic(opened, { args, ...how, progress, signal })
  }

  /**
   * Restores volumes where nothing uses them, and returns the bytes of their files. `databases` reads those of SQLite.
   */
  async function measureVolumes({
    snapshot,
    databases,
    signal,
  }: SnapshotOf & {
    databases: (from: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>
  }): Promise<number> {
    const { current } = await find({ snapshot, signal })
    const { messages } = await runRestic(opened, {
      args: ['--json', 'restore', current, '--target', volumesFolder],
      script: measureScript,
      stdout: databases,
      ...staged,
      signal,
    })
    const line = messages.texts.findLast((text) => text.startsWith('davit-bytes '))
    return Number(line?.split(' ')[1])
  }

  return { storeVolumes, readVolumes, measureVolumes }
}
