import { Failure } from '../../platform/errors.ts'
import { runRestic } from './run.ts'
import type { Opened } from './run.ts'

/** `id` stays the same when its tags change, unlike restic's own. */
export type StoredSnapshot = { id: string; at: Date; tags: string[]; paths: string[] }

type Listed = { id: string; original?: string; time: string; tags?: string[]; paths: string[] }

type Abortable = { signal: AbortSignal }

/** Oldest first. */
export async function listSnapshots(
  opened: Opened,
  { tag, signal }: Abortable & { tag?: string | undefined },
): Promise<(StoredSnapshot & { current: string })[]> {
  const args = ['--json', 'snapshots', ...(tag ? ['--tag', tag] : [])]
  const { messages } = await runRestic(opened, { args, signal })
  return (messages.list as Listed[])
    .map(({ id, original, time, tags = [], paths }) => ({
      ...{ id: original ?? id, at: new Date(time), tags, paths },
      current: id,
    }))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** The ids that restic has for them now. Those that don't exist any more are left out. */
export async function currentIds(
  opened: Opened,
  { snapshots, signal }: Abortable & { snapshots: string[] },
) {
  if (snapshots.length === 0) return []
  // restic 0.14 reports the first characters of a new one
  const isMeant = (id: string) => snapshots.some((start) => id.startsWith(start))
  const all = await listSnapshots(opened, { signal })
  return all.filter(({ id }) => isMeant(id)).map(({ current }) => current)
}

export async function currentId(
  opened: Opened,
  { snapshot, signal }: Abortable & { snapshot: string },
) {
  const [current] = await currentIds(opened, { snapshots: [snapshot], signal })
  if (current) return current
  throw new Failure(
    'backup_missing',
    `The target ${opened.repository.where} doesn’t have this backup any more.`,
    'Someone removed it there. Choose another backup.',
  )
}
