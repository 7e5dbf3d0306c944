import { mkdirSync } from 'node:fs'
import { lockDataDir } from '../db/instance-lock.ts'
import { Failure } from '../platform/errors.ts'
import type { Layout } from './layout.ts'

/**
 * Locks davit install and davit uninstall from their plan to their end: each would undo the other's work.
 * The davit upgrade that an installation starts takes another lock, `holdInstallation`.
 */
export function holdSetup({ lock }: Pick<Layout, 'lock'>) {
  mkdirSync(lock, { recursive: true, mode: 0o700 })
  try {
    return lockDataDir(lock)
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== 'data_dir_in_use') throw cause
    throw new Failure(
      'setup_runs',
      'Another davit install or davit uninstall is running.',
      'Wait until it has ended.',
      { cause },
    )
  }
}
