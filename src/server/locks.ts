import { mkdirSync } from 'node:fs'
import { isLocked, lockDataDir } from '../db/instance-lock.ts'
import { Failure } from '../platform/errors.ts'
import type { Layout } from './layout.ts'

const upgradeRuns = (cause?: unknown) =>
  new Failure(
    'upgrade_runs',
    'A davit upgrade or davit move is running.',
    'Wait until it has ended.',
    { cause },
  )

const setupRuns = (cause: unknown) =>
  new Failure(
    'setup_runs',
    'Another davit install or davit uninstall is running.',
    'Wait until it has ended.',
    { cause },
  )

/** Throws while a davit upgrade or davit move runs: until it ends, only it may change the installation. */
export function refuseDuringUpgrade({ upgrades }: Pick<Layout, 'upgrades'>) {
  if (isLocked(upgrades)) throw upgradeRuns()
}

/** Locks the installation until closed. The hooks of systemd use the lock to see that a command waits. */
export const holdInstallation = ({ upgrades }: Pick<Layout, 'upgrades'>) =>
  hold(upgrades, upgradeRuns)

/**
 * Locks davit install and davit uninstall from their plan to their end: each would undo the other's work.
 * The davit upgrade that an installation starts takes the other lock.
 */
export const holdSetup = ({ lock }: Pick<Layout, 'lock'>) => hold(lock, setupRuns)

function hold(folder: string, taken: (cause: unknown) => Failure) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    return lockDataDir(folder)
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== 'data_dir_in_use') throw cause
    throw taken(cause)
  }
}
