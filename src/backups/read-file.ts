import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Failure } from '../platform/errors.ts'
import { checksummed } from './checksummed.ts'
import type { Restic } from './restic/restic.ts'
import type { Backup } from './store.ts'

/**
 * Reads files of a backup from its target, volumes as a tar archive, without ending the stream that it writes to. Rejects when one isn't
 * what was stored: all of it was passed on by then.
 */
export const fileReader =
  ({ files }: Pick<Backup, 'files'>, restic: Pick<Restic, 'read'>) =>
  async (name: string, to: Writable, signal: AbortSignal) => {
    const stored = files.find(({ file }) => file === name)
    if (!stored) throw changed(name)
    const { snapshot, checksum } = stored
    const sum = checksummed((to, signal) =>
      restic.read({
        ...{ snapshot, file: name, signal },
        to: (stdout, signal) => pipeline(stdout, to, { signal, end: false }),
      }),
    )
    await sum.write(to, signal)
    if (checksum !== null && sum.result().checksum !== checksum) throw changed(name)
  }

export const changed = (file: string) =>
  new Failure(
    'backup_changed',
    `The target’s ${file} isn’t what was stored.`,
    'Something changed or replaced it there. Back up again, to another target if you can.',
  )
