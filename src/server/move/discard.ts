import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { connectDocker, Engines } from '../../docker/index.ts'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { onEngines } from '../../runtime/on-engine.ts'
import { removeFromEngine } from '../../runtime/remove.ts'
import { asDavit } from '../accounts.ts'
import type { Layout } from '../layout.ts'
import { localEngine } from '../machine.ts'
import type { Work } from '../run.ts'
import { installationOf } from '../store.ts'
import { configOf } from '../installed.ts'
import { holdDavit, isGuarded, startDavit, unguardStart } from './guard.ts'
import { isPartial, readMove, removeMove, writeMove } from './journal.ts'

/** Removes all of Davit's data here, and all that belongs to the installation that moves. */
export async function clear(layout: Layout, instanceId: string) {
  const { dataDir } = configOf(layout) // read as root: the settings may contain secrets
  const own = installationOf(dataDir)
  for (const id of new Set([own, instanceId])) if (id) await removeAll(id, { images: false })
  asDavit(() => clearData(dataDir))
}

/** Images may stay, so that the next attempt of a move doesn't need to send them again. */
export function removeAll(instanceId: string, { images = true } = {}) {
  const on = onEngines(new Engines([connectDocker(localEngine)]))
  const collector = { finish: async () => {} } // these logs aren't needed any more
  return removeFromEngine({ ...on, instanceId, collector }, { volumes: true, images })
}

function clearData(dataDir: string) {
  if (!existsSync(dataDir)) return
  // the root of a file system has this folder, and only root may remove it
  for (const name of readdirSync(dataDir).filter((name) => name !== 'lost+found'))
    rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** Removes what has arrived and restores the settings, as after installation. */
export async function discard(layout: Layout) {
  const journal = readMove(layout, 'received')
  if (!journal || !isPartial(journal)) return
  await clear(layout, journal.instanceId)
  writeFileAtomically(layout.settings, journal.settings)
  removeMove(layout, 'received')
}

/** Lets Davit run here as the journal says: data that isn't kept is removed first. */
export async function settle(layout: Layout, work: Work) {
  const journal = readMove(layout, 'received')
  if (journal && isPartial(journal)) {
    // not again: the disk may be full
    if (journal.phase !== 'receiving')
      writeMove(layout, 'received', { ...journal, phase: 'receiving' })
    await holdDavit(layout, work)
    await discard(layout)
  }
  if (!isGuarded(layout)) return
  await unguardStart(layout, work)
  await startDavit(layout, work)
}
