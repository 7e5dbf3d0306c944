import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../platform/errors.ts'
import type { Layout } from '../layout.ts'
import { holdInstallation } from '../locks.ts'
import type { Work } from '../run.ts'
import type { Step } from '../steps.ts'
import { removeCopies } from './databases.ts'
import { placesOf, readJournal, removeJournal } from './journal.ts'
import type { Places, Upgrade } from './journal.ts'
import { activeState, requestRestart } from '../service.ts'
import { closeUpgrade, openUpgrade } from './unit.ts'

/** Finishes an interrupted upgrade before anything else changes the installation. */
export function finishing(layout: Layout): Step {
  const places = placesOf(layout)
  const last = readJournal(places)
  return {
    does: `Finish the upgrade from ${last?.from} to ${last?.to}, which was interrupted`,
    isDone: () => last === null,
    async act(work) {
      using _hold = holdInstallation(layout)
      await finishLast(places, work)
    },
  }
}

/**
 * The journal of an upgrade whose command was killed, once no start can still change it: one
 * may be installing the new executable just now. Null when there is none.
 */
export async function journalAtRest(
  places: Places,
  stateOf: () => Promise<string>,
  { signal }: Pick<Work, 'signal'>,
): Promise<Upgrade | null> {
  for (;;) {
    const state = await stateOf()
    const journal = readJournal(places) // read after the state, to include a start in between
    const mayBeTaken = state === 'activating' || state === 'deactivating'
    if (journal?.phase !== 'swap' || !mayBeTaken) return journal
    await sleep(200, undefined, { signal })
  }
}

/** Finishes an upgrade whose command was killed, and reports the resulting version. */
export async function finishLast(places: Places, work: Work) {
  const last = await journalAtRest(places, () => activeState(work), work)
  if (!last) return
  work.say(`The upgrade from ${last.from} to ${last.to} was interrupted. Finishing that first.`)
  if (last.phase === 'trial' || last.phase === 'revert') {
    await openUpgrade(places, last.timeout, work) // a power failure may have lost it
    if ((await activeState(work)) !== 'activating') await requestRestart(work)
  }
  const isBegun = last.phase !== 'swap'
  const { phase, why } = isBegun ? await untilOver(places, work) : last
  if (phase === 'done') work.say(`It was done: Davit ${last.to} runs.`)
  else work.say(`It was undone: ${why ?? 'it hadn’t begun'}. Davit ${last.from} is installed.`)
  await clearUpgrade(places, last, work)
}

/** Removes an upgrade's temporary files once it is over. */
export async function clearUpgrade(places: Places, upgrade: Upgrade, work: Work) {
  await closeUpgrade(places, work)
  removeCopies(places, upgrade)
  for (const path of [places.draft, places.keeper]) rmSync(path, { force: true })
  removeJournal(places)
}

/** Resolves when systemd has completed or reverted the upgrade. */
export async function untilOver(places: Places, work: Work) {
  for (const began = Date.now(); ; await sleep(200)) {
    work.signal.throwIfAborted() // systemd continues without this command
    const upgrade = readJournal(places)!
    const state = await activeState(work)
    const isOver = upgrade.phase === 'done' || upgrade.phase === 'reverted'
    if (isOver && ['active', 'failed', 'inactive'].includes(state))
      return { ...upgrade, isRunning: state === 'active' }
    if (Date.now() - began < (3 * upgrade.timeout + 120) * 1000) continue
    throw new Failure(
      'upgrade_unfinished',
      `The upgrade isn’t over (${upgrade.phase}), and Davit is ${state}.`,
      'See systemctl status davit. Then run davit upgrade again: it finishes this one first.',
    )
  }
}
