import { mkdirSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLocked, lockDataDir } from '../../db/instance-lock.ts'
import { Failure } from '../../platform/errors.ts'
import type { Layout } from '../layout.ts'
import { readJournal } from './journal.ts'
import type { Places, Upgrade } from './journal.ts'

const upgradeRuns = (cause?: unknown) =>
  new Failure(
    'upgrade_runs',
    'A davit upgrade or davit move is running.',
    'Wait until it has ended.',
    { cause },
  )

/** Throws while a davit upgrade or davit move runs: until it ends, only it may change the installation. */
export function refuseDuringUpgrade({ upgrades }: Pick<Layout, 'upgrades'>) {
  if (isLocked(upgrades)) throw upgradeRuns()
}

/** Locks the installation until closed. The hooks of systemd use the lock to see that a command waits. */
export function holdInstallation({ upgrades }: Pick<Layout, 'upgrades'>) {
  mkdirSync(upgrades, { recursive: true, mode: 0o700 })
  try {
    return lockDataDir(upgrades)
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== 'data_dir_in_use') throw cause
    throw upgradeRuns(cause)
  }
}

/** Throws unless the installed executable runs this command: it describes the version that is replaced. */
export function refuseOtherExecutable({ executable }: Pick<Layout, 'executable'>, own: string) {
  const [installed, running] = [executable, own].map((path) => statSync(path))
  if (installed!.ino === running!.ino && installed!.dev === running!.dev) return
  throw new Failure(
    'not_installed',
    `This executable isn’t the installed one, which is ${executable}.`,
    `Run ${executable} upgrade, or install this one by its command install.`,
  )
}

/**
 * The journal of an upgrade whose command was killed, once no start can still change it: one
 * may be installing the new executable just now. Null when there is none.
 */
export async function journalAtRest(
  places: Places,
  stateOf: () => Promise<string>,
  signal: AbortSignal,
): Promise<Upgrade | null> {
  for (;;) {
    const state = await stateOf()
    const journal = readJournal(places) // read after the state, to include a start in between
    const mayBeTaken = state === 'activating' || state === 'deactivating'
    if (journal?.phase !== 'swap' || !mayBeTaken) return journal
    await sleep(200, undefined, { signal })
  }
}
