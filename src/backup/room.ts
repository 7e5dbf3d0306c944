import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { spaceOf } from '../platform/disk-space.ts'
import { Failure } from '../platform/errors.ts'
import { bytes } from '../web/units.ts'

/** Copies of databases are made in the data directory, where nobody reads them who could not before. */
export const workPrefix = 'backup-'

export function refuseTaken(target: string) {
  if (!existsSync(target)) return
  throw new Failure(
    'backup_exists',
    `There is a file ${target} already.`,
    'Choose another name, or replace it with --force.',
  )
}

/** Of backups that were killed: a younger one may be at work. */
export function removeLeftOvers(dataDir: string) {
  const dayAgo = Date.now() - 24 * 3600 * 1000
  for (const name of readdirSync(dataDir).filter((name) => name.startsWith(workPrefix)))
    if (statSync(join(dataDir, name)).mtimeMs < dayAgo)
      rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** A copy must not take the room that the server needs. */
export async function refuseFullDisk(dataDir: string, { withLogs }: { withLogs: boolean }) {
  const names = ['davit.db', 'davit.db-wal', ...(withLogs ? ['logs.db', 'logs.db-wal'] : [])]
  const sizes = names.map((name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size)
  const wanted = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 64 * 2 ** 20)
  const space = await spaceOf(dataDir)
  if (!space || space.free >= wanted) return
  throw new Failure(
    'disk_full',
    `A backup needs ${bytes(wanted)} of room in ${dataDir} for a while, and there are ${bytes(space.free)}.`,
    'Make room, or leave out --with-logs.',
  )
}
