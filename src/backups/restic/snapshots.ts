import { Failure } from '../../platform/errors.ts'
import { explain } from './explain.ts'
import type { Progress } from './messages.ts'
import { runRestic } from './run.ts'
import type { Opened, Result } from './run.ts'

/** `id` stays the same when its tags change, unlike restic's own. */
export type StoredSnapshot = { id: string; at: Date; tags: string[]; paths: string[] }

type Listed = { id: string; original?: string; time: string; tags?: string[]; paths: string[] }

export type Snapshot = { id: string; bytes: number; addedBytes: number }

export type Abortable = { signal: AbortSignal }
export type Storing = Abortable & { tags: string[]; progress?: (progress: Progress) => void }
export type SnapshotOf = Abortable & { snapshot: string }

export type Snapshots = Awaited<ReturnType<typeof readSnapshots>>

/** A lock would change nothing but the time that it takes, and needs a target that can be written to. */
export const listing = ['--no-lock', '--json', 'snapshots']

/** Whatever a target makes restic print: ids become its arguments. */
const isId = /^[0-9a-f]{64}$/

/** Of a whole repository, oldest first. */
export async function readSnapshots(opened: Opened, { signal }: Abortable) {
  return snapshotsIn(await runRestic(opened, { args: listing, signal }))
}

/** Of a run that printed them. */
export function snapshotsIn({ messages }: Result) {
  const snapshots = (messages.list as Listed[])
    .filter(({ id, original = id }) => isId.test(id) && isId.test(original))
    .map(({ id, original, time, tags = [], paths }) => ({
      ...{ id: original ?? id, at: new Date(time), tags, paths },
      current: id,
    }))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
  return { snapshots, messages }
}

// restic 0.14 reports the first characters of a new one
const among = (all: Snapshots['snapshots'], ids: string[]) =>
  all.filter(({ id }) => ids.some((start) => id.startsWith(start)))

/** The ids that restic has for them now. Those that don't exist any more are left out. */
export const currentIds = ({ snapshots }: Snapshots, ids: string[]) =>
  among(snapshots, ids).map(({ current }) => current)

/** Throws a Failure when it isn't there, or can't be read. */
export function findSnapshot(
  opened: Opened,
  { snapshots, messages }: Snapshots,
  is: (one: StoredSnapshot) => boolean,
) {
  const found = snapshots.findLast(is)
  if (found) return found
  // restic passes over what it can't read
  if (messages.texts.some((text) => /load snapshot/.test(text)))
    throw explain(opened, { messages, exitCode: 0 })
  throw new Failure(
    'backup_missing',
    `The target ${opened.repository.where} doesn’t have this backup any more.`,
    'Someone removed it there. Choose another backup.',
  )
}

export function summaryOf({ messages }: Result): Snapshot {
  const { snapshot_id, total_bytes_processed, data_added, data_added_packed } = messages.summary
  return {
    id: String(snapshot_id),
    bytes: Number(total_bytes_processed),
    addedBytes: Number(data_added_packed ?? data_added),
  }
}
