import { existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLocked } from '../../db/instance-lock.ts'
import { sync } from '../../platform/atomic-write.ts'
import { copyDatabases, putDatabasesBack } from './databases.ts'
import { readJournal, writeJournal } from './journal.ts'
import type { Places, Upgrade } from './journal.ts'

/*
 * systemd runs these as root around a start of Davit while an upgrade is open, with the old executable. So
 * whatever process is killed, and whatever the new version does, the next start continues from the journal.
 */

/** Before a start: installs the new executable, or restores the old one when the new one failed its trial. */
export function beforeStart(places: Places) {
  const upgrade = readJournal(places)
  const isOver = upgrade?.phase === 'done' || upgrade?.phase === 'reverted'
  if (isOver && !isLocked(places.state)) rmSync(places.dropIn, { force: true }) // no command waits to do it
  if (upgrade?.phase === 'swap') takeNew(places, upgrade)
  if (upgrade?.phase === 'trial') revert(places, { ...upgrade, why: upgrade.why ?? neverProved })
  if (upgrade?.phase === 'revert') revert(places, upgrade)
}

const neverProved = 'it was interrupted before the new version proved that it works'

function takeNew(places: Places, upgrade: Upgrade) {
  const stay = (why: string) => writeJournal(places, { ...upgrade, phase: 'reverted', why })
  if (!isLocked(places.state))
    return stay('davit upgrade was interrupted before it changed anything')
  if (!existsSync(places.draft)) return stay(`${places.draft} is missing`)
  try {
    copyDatabases(places, upgrade)
  } catch (error) {
    return stay(`the database can’t be copied: ${(error as Error).message}`)
  }
  writeJournal(places, { ...upgrade, phase: 'trial' })
  renameSync(places.draft, places.executable)
  sync(dirname(places.executable))
}

function revert(places: Places, upgrade: Upgrade) {
  writeJournal(places, { ...upgrade, phase: 'revert' })
  putDatabasesBack(places, upgrade)
  rmSync(places.draft, { force: true })
  linkSync(places.keeper, places.draft)
  renameSync(places.draft, places.executable)
  rmSync(places.draft, { force: true }) // renaming does nothing if nothing was swapped yet
  sync(dirname(places.executable))
  writeJournal(places, { ...upgrade, phase: 'reverted' })
}

/** Milliseconds for which the new version must respond without a break. */
const trialTime = 5_000

/** After a start: waits for the new version's trial; returns false when it fails. */
export async function afterStart(places: Places, { origin }: { origin: string }): Promise<boolean> {
  const upgrade = readJournal(places)
  if (upgrade?.phase !== 'trial') return true
  // sooner than systemd's timeout, which gives no reason
  const within = Math.min(60_000, upgrade.timeout * 700)
  const why = await whyUnhealthy(origin, within)
  if (why === null) writeJournal(places, { ...upgrade, phase: 'done' })
  else writeJournal(places, { ...upgrade, why })
  return why === null
}

/** Null once it has responded for the whole trial. */
async function whyUnhealthy(origin: string, within: number): Promise<string | null> {
  const deadline = performance.now() + within
  let wellSince: number | null = null
  let why = ''
  while (performance.now() < deadline) {
    const state = await askHealth(origin)
    if (state === null) wellSince ??= performance.now()
    else [wellSince, why] = [null, state]
    if (wellSince !== null && performance.now() - wellSince >= trialTime) return null
    await sleep(250)
  }
  return why || `it didn’t respond for ${trialTime / 1000} seconds without a break`
}

async function askHealth(origin: string) {
  try {
    const answer = await fetch(`${origin}/health/ready`, { signal: AbortSignal.timeout(5_000) })
    await answer.body?.cancel()
    return answer.ok ? null : `${origin}/health/ready responded with status ${answer.status}`
  } catch {
    return `it didn’t respond at ${origin}`
  }
}

/** The variables that systemd sets for a service that ended. */
type End = Record<string, string | undefined>

/** After each end: records why the new version ended before its trial was over. */
export function afterStop(places: Places, end: End) {
  const upgrade = readJournal(places)
  if (upgrade?.phase !== 'trial' || upgrade.why !== undefined) return
  writeJournal(places, { ...upgrade, why: whyEnded(end, upgrade) })
}

function whyEnded({ SERVICE_RESULT, EXIT_CODE, EXIT_STATUS }: End, { timeout }: Upgrade) {
  if (SERVICE_RESULT === 'timeout') return `it wasn’t ready within ${timeout} seconds`
  if (SERVICE_RESULT === 'watchdog') return 'it stopped responding to systemd'
  if (EXIT_CODE === 'exited') return `it ended with status ${EXIT_STATUS} at its start`
  return `it was ended by the signal ${EXIT_STATUS} at its start`
}
