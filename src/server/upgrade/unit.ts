import { existsSync, mkdirSync, rmSync, rmdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import type { Work } from '../run.ts'
import { reload } from '../service.ts'
import type { Places } from './journal.ts'
import { neverAborted } from '../../platform/pause.ts'

/**
 * For a drop-in with hooks for each start: restarts at once after any exit
 * status, but only a few times. Ends within the [Service] section.
 */
export const failsFast = `[Unit]
StartLimitIntervalSec=10
StartLimitBurst=5

[Service]
RestartSec=100ms
RestartPreventExitStatus=
`

/**
 * Makes systemd continue the upgrade at each start, with the old executable: the new
 * one may not start at all, and the command may be killed.
 */
export async function openUpgrade({ dropIn, keeper }: Places, timeout: number, work: Work) {
  const step = (name: string) => `+${keeper} upgrade --step ${name}`
  mkdirSync(dirname(dropIn), { recursive: true, mode: 0o755 })
  const text = `# Of an upgrade of Davit; removed when that is over.
${failsFast}TimeoutStartSec=${timeout}
ExecStartPre=${step('before-start')}
ExecStartPost=${step('after-start')}
ExecStopPost=${step('after-stop')}
`
  writeFileAtomically(dropIn, text)
  await reload(work)
}

export async function closeUpgrade(places: Places, work: Work) {
  removeDropIn(places)
  await reload(work)
}

/**
 * Removes an upgrade that didn't begin, or was interrupted before it did. systemd may have read
 * the drop-in and couldn't start Davit without the keeper, so that is removed last.
 */
export async function abandonUpgrade(places: Places, work: Work) {
  const calm = { ...work, signal: neverAborted() }
  if (existsSync(places.dropIn)) await closeUpgrade(places, calm)
  for (const path of [places.draft, places.keeper]) rmSync(path, { force: true })
}

/** Takes effect at the next daemon-reload. */
export function removeDropIn({ dropIn }: { dropIn: string }) {
  rmSync(dropIn, { force: true })
  try {
    rmdirSync(dirname(dropIn))
  } catch {
    // the operator has other files there, or it doesn't exist
  }
}
