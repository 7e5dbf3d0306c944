import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../platform/errors.ts'
import { service } from './layout.ts'
import type { Layout } from './layout.ts'
import { run, tryRun } from './run.ts'
import type { Work } from './run.ts'

/** The state of the service according to systemd. */
export async function serviceState() {
  const properties = 'ActiveState,UnitFileState,MainPID,ExecMainStartTimestampMonotonic'
  const { lines } = await tryRun({
    argv: ['systemctl', 'show', service, `--property=${properties}`],
  })
  const shown = Object.fromEntries(lines.map((line) => line.split('=') as [string, string]))
  const uptime = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000
  const started = Number(shown.ExecMainStartTimestampMonotonic ?? 0) / 1000
  return {
    isActive: shown.ActiveState === 'active',
    isEnabled: shown.UnitFileState === 'enabled',
    /** 0 when it doesn't run. */
    pid: Number(shown.MainPID ?? 0),
    /** Milliseconds since the epoch. */
    startedAt: Date.now() - uptime + started,
  }
}

/** False when a file has changed since the start: a change takes effect at the next start. */
export async function runsCurrent({ executable, settings, unit }: Layout) {
  const { isActive, isEnabled, pid, startedAt } = await serviceState()
  if (!isActive || !isEnabled || pid === 0) return false
  try {
    if (readlinkSync(`/proc/${pid}/exe`) !== executable) return false
    return [settings, unit].every((path) => statSync(path).mtimeMs < startedAt)
  } catch {
    return false // it is just ending, or a file is missing
  }
}

/** Starts Davit with the current unit (`restart`: even if it runs) and resolves when it responds. */
export async function startService(
  origin: string,
  work: Work,
  verb: 'restart' | 'start' = 'restart',
) {
  const begun = Math.floor(Date.now() / 1000)
  const systemctl = (...args: string[]) => tryRun({ ...work, argv: ['systemctl', ...args] })
  const todo = 'Check systemd’s log: journalctl -b. Then run davit install again.'
  await reload(work)
  await systemctl('reset-failed', service)
  await run({ ...work, todo, argv: ['systemctl', 'enable', service] })
  const { status } = await tryRun({ argv: ['systemctl', verb, service], ...work, minutes: 12 })
  if (status !== 0) throw await whyNotStarted(begun)
  await untilReady(origin, work.signal)
}

/** Stops Davit and disables it at boot; its containers keep running. Throws when it doesn't stop. */
export async function stopService(work: Work) {
  const { status, lines } = await tryRun({
    ...work,
    argv: ['systemctl', 'disable', '--now', service],
    minutes: 2,
  })
  await tryRun({ ...work, argv: ['systemctl', 'reset-failed', service] })
  if (status === 0) return
  const { isActive, isEnabled } = await serviceState()
  if (!isActive && !isEnabled) return // there is no service
  throw new Failure(
    'not_stopped',
    `Davit couldn’t be stopped: ${lines.at(-1) ?? 'systemctl failed'}`,
    'Check systemd: journalctl -b. Then run the same command again.',
  )
}

/** Resolves when Davit responds at its own address. */
export async function untilReady(origin: string, signal: AbortSignal) {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(5_000)])
    const answer = await fetch(`${origin}/health/ready`, { signal: within }).catch(() => null)
    signal.throwIfAborted()
    if (answer?.ok) return
    await sleep(100, undefined, { signal })
  }
  throw new Failure(
    'not_ready',
    `Davit started, but doesn’t respond at ${origin} within a minute.`,
    'See its log: journalctl -u davit.',
  )
}

async function whyNotStarted(since: number) {
  const own = await journalSince(since, [`--unit=${service}`])
  return startFailure(own, denialIn(await journalSince(since, ['--dmesg'])))
}

/** The last lines of systemd's journal since a time in seconds. */
async function journalSince(since: number, which: string[], work: Partial<Work> = {}) {
  const options = ['--no-pager', '--output=cat', `--since=@${since}`, '--lines=200']
  return (await tryRun({ ...work, argv: ['journalctl', ...options, ...which] })).lines
}

/** Finds the reason for a failed start in the lines of its log. */
export function startFailure(lines: string[], denial: { by: string; line: string } | null) {
  if (denial)
    return new Failure(
      'confined',
      `${denial.by} didn’t let Davit start: ${denial.line}`,
      `Allow it in ${denial.by}’s policy for /usr/local/bin/davit. Then run davit install again.`,
    )
  const said = lines.findLast((line) => line.startsWith('davit: '))?.slice('davit: '.length)
  const last = said ?? lines.findLast((line) => /fail|error|denied/i.test(line)) ?? lines.at(-1)
  return new Failure(
    'not_started',
    `Davit didn’t start: ${last ?? 'it wrote nothing'}`,
    'All of its log: journalctl -u davit. Fix that, then run davit install again.',
  )
}

/** What the kernel refused to Davit, and to which program. */
export function denialIn(lines: string[]) {
  const isOurs = (line: string) => /"davit"|\/davit\b/.test(line)
  const line = lines.findLast(
    (line) => isOurs(line) && /apparmor="DENIED"|avc:\s+denied/.test(line),
  )
  if (line === undefined) return null
  return { by: line.includes('apparmor=') ? 'AppArmor' : 'SELinux', line: line.slice(0, 400) }
}

/** Makes systemd read its units again. */
export const reload = (work: Work) =>
  run({ ...work, argv: ['systemctl', 'daemon-reload'], todo: 'Check systemd: journalctl -b.' })

/** Only requests the restart, without waiting for it. */
export async function requestRestart(work: Work) {
  await tryRun({ ...work, argv: ['systemctl', 'reset-failed', service] })
  const todo = 'Check systemd: journalctl -b.'
  await run({ ...work, argv: ['systemctl', 'restart', '--no-block', service], todo })
}

/** `active`, `activating`, `deactivating`, `inactive` or `failed`. */
export async function activeState(work: Work) {
  const options = ['--property=ActiveState', '--value', service]
  const { lines } = await tryRun({ ...work, argv: ['systemctl', 'show', ...options] })
  return lines[0] ?? 'unknown'
}

/** The reason that Davit logged for its end since a time in milliseconds; null without one. */
export async function lastWords(since: number, work: Work) {
  const lines = await journalSince(Math.floor(since / 1000), [`--unit=${service}`], work)
  const own = lines.findLast((line) => line.startsWith('davit: '))
  const line = own?.slice('davit: '.length) ?? lines.findLast((line) => /^\w*error\b/i.test(line))
  return line?.slice(0, 400) ?? null
}
