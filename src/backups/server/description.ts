import { z } from 'zod'
import { jsonOrNull } from '../../platform/json.ts'
import { changed } from '../read-file.ts'
import type { Restic, StoredSnapshot, TextFile } from '../restic/restic.ts'
import { backupTag } from '../repository.ts'
import { backupSubjects, volumeHolds } from '../store.ts'
import type { Backup } from '../store.ts'

/**
 * In the last snapshot of a backup, so that a Davit of before it can use the backup, too. Its files that are in the same
 * snapshot have none there.
 */
const fileName = 'backup.json'

/** Bytes. A database of 100,000 tables has less. */
const maxSize = 64 * 2 ** 20

const date = z.coerce.date()

/** Further columns are kept as they are: the file comes from a repository that only its key can write. */
const described = z.looseObject({
  id: z.uuid(),
  subjectKind: z.enum(backupSubjects),
  subjectId: z.string(),
  subjectName: z.string(),
  startedBy: z.string(),
  hold: z.enum(volumeHolds),
  bytes: z.number(),
  addedBytes: z.number(),
  rows: z.number().nullable(),
  checksum: z.string(),
  files: z.array(
    z.object({
      file: z.string(),
      snapshot: z.string(),
      bytes: z.number(),
      checksum: z.string().nullable(),
      volumes: z.array(z.string().regex(/^[a-zA-Z0-9][\w.-]*$/)).optional(),
    }),
  ),
  contents: z.array(z.looseObject({ component: z.string(), engine: z.string() })).nullable(),
  createdAt: date,
  startedAt: date,
  finishedAt: date,
})

/** What only one Davit, or one moment, knows of it. */
const own = ['ownerId', 'targetId', 'status', 'held', 'restore', 'goneAt'] as const

type Described = Omit<Backup, (typeof own)[number]>

/** Null for one that no Davit would read. */
function describedAs(backup: Backup) {
  const entries = Object.entries(backup)
  const text = JSON.stringify(
    Object.fromEntries(entries.filter(([name]) => !(own as readonly string[]).includes(name))),
  )
  return Buffer.byteLength(text) > maxSize ? null : text
}

/** The last file of what a backup stores; null for one that no Davit would read. */
export function descriptionOf(backup: Backup): TextFile | null {
  const text = describedAs({ ...backup, finishedAt: new Date() })
  return text === null ? null : { file: fileName, text }
}

export const hasDescription = ({ paths }: Pick<StoredSnapshot, 'paths'>) =>
  paths.some((path) => path.endsWith(`/${fileName}`))

/** Throws a Failure unless the target has the description of this backup. */
export async function proveDescription(
  restic: Pick<Restic, 'read' | 'findBy'>,
  backup: Backup,
  { signal }: { signal: AbortSignal },
) {
  if (describedAs(backup) === null) return
  const { id: snapshot } = await restic.findBy({
    is: (one) => hasDescription(one) && one.tags.includes(backupTag(backup)),
    signal,
  })
  const found = await readDescription(restic, { snapshot, listed: [], signal })
  if (found?.id !== backup.id || found.checksum !== backup.checksum) throw changed(fileName)
}

/** Null when it isn't one, or one of a later form. */
export async function readDescription(
  restic: Pick<Restic, 'read'>,
  { snapshot, listed, signal }: { snapshot: string; listed: StoredSnapshot[]; signal: AbortSignal },
): Promise<Described | null> {
  const parts: Uint8Array[] = []
  let size = 0
  await restic.read({
    ...{ snapshot, file: fileName, signal },
    async to(stdout) {
      for await (const part of stdout) if ((size += part.length) <= maxSize) parts.push(part)
    },
  })
  if (size > maxSize) return null
  const read = described.safeParse(jsonOrNull(Buffer.concat(parts).toString('utf8')))
  if (!read.success) return null
  const { files, ...rest } = read.data as unknown as Described
  // an older restic says only the beginning of an id
  const idOf = (start: string) => listed.find(({ id }) => id.startsWith(start))?.id ?? start
  return {
    ...rest,
    files: files.map((file) => ({ ...file, snapshot: idOf(file.snapshot || snapshot) })),
  }
}
