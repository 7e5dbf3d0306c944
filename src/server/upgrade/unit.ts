import { existsSync, mkdirSync, rmSync, rmdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { service } from '../layout.ts'
import { run, tryRun } from '../run.ts'
import type { Work } from '../run.ts'
import type { Places } from './journal.ts'

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
  const calm = { ...work, signal: new AbortController().signal }
  if (existsSync(places.dropIn)) await closeUpgrade(places, calm)
  for (const path of [places.draft, places.keeper]) rmSync(path, { force: true })
}

/** Takes effect at the next daemon-reload. */
export function removeDropIn({ dropIn }: Pick<Places, 'dropIn'>) {
  rmSync(dropIn, { force: true })
  try {
    rmdirSync(dirname(dropIn))
  } catch {
    // the operator has other files there, or it doesn't exist
  }
}

const reload = ({ signal }: Work) =>
  run({ argv: ['systemctl', 'daemon-reload'], todo: 'Check systemd: journalctl -b.', signal })

/** Only requests the restart; its result is recorded in the upgrade's journal. */
export async function restartService({ signal }: Work) {
  await tryRun({ argv: ['systemctl', 'reset-failed', service], signal })
  const todo = 'Check systemd: journalctl -b.'
  await run({ argv: ['systemctl', 'restart', '--no-block', service], todo, signal })
}

/** `active`, `activating`, `deactivating`, `inactive` or `failed`. */
export async function activeState({ signal }: Work) {
  const ask = ['show', '--property=ActiveState', '--value', service]
  return (await tryRun({ argv: ['systemctl', ...ask], signal })).lines[0] ?? 'unknown'
}

/** The reason that Davit logged for its end since then; null without one. */
export async function lastWords(since: number, { signal }: Work) {
  const options = ['--no-pager', '--output=cat', `--since=@${Math.floor(since / 1000)}`]
  const unit = `--unit=${service}`
  const { lines } = await tryRun({ argv: ['journalctl', ...options, unit, '--lines=200'], signal })
  const own = lines.findLast((line) => line.startsWith('davit: '))
  const line = own?.slice('davit: '.length) ?? lines.findLast((line) => /^\w*error\b/i.test(line))
  return line?.slice(0, 400) ?? null
}
