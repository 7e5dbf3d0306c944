import { Failure } from '../../platform/errors.ts'
import { explain } from './explain.ts'
import { runRestic } from './run.ts'
import type { Opened } from './run.ts'

/** `id` stays the same when its tags change, unlike restic's own. */
export type StoredSnapshot = { id: string; at: Date; tags: string[]; paths: string[] }

type Listed = { id: string; original?: string; time: string; tags?: string[]; paths: string[] }

type Abortable = { signal: AbortSignal }

/** Oldest first. */
export const listSnapshots = async (
  opened: Opened,
  options: Abortable & { tag?: string | undefined },
) => (await readSnapshots(opened, options)).snapshots

async function readSnapshots(
  opened: Opened,
  { tag, signal }: Abortable & { tag?: string | undefined },
) {
  const args = ['--json', 'snapshots', ...(tag ? ['--tag', tag] : [])]
  const { messages } = await runRestic(opened, { args, signal })
  const snapshots = (messages.list as Listed[])
    .map(({ id, original, time, tags = [], paths }) => ({
      ...{ id: original ?? id, at: new Date(time), tags, paths },
      current: id,
    }))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
  return { snapshots, messages }
}

// restic 0.14 reports the first characters of a new one
const among = (all: (StoredSnapshot & { current: string })[], snapshots: string[]) =>
  all
    .filter(({ id }) => snapshots.some((start) => id.startsWith(start)))
    .map(({ current }) => current)

/** The ids that restic has for them now. Those that don't exist any more are left out. */
export const currentIds = async (
  opened: Opened,
  { snapshots, signal }: Abortable & { snapshots: string[] },
) => (snapshots.length === 0 ? [] : among(await listSnapshots(opened, { signal }), snapshots))

export async function currentId(
  opened: Opened,
  { snapshot, signal }: Abortable & { snapshot: string },
) {
  const { snapshots, messages } = await readSnapshots(opened, { signal })
  const [current] = among(snapshots, [snapshot])
  if (current) return current
  // restic passes over what it can't read
  if (messages.texts.some((text) => /load snapshot/.test(text)))
    throw explain(opened, { messages, exitCode: 0 })
  throw new Failure(
    'backup_missing',
    `The target ${opened.repository.where} doesn’t have this backup any more.`,
    'Someone removed it there. Choose another backup.',
  )
}
