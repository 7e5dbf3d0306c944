import { cancelled } from '../../jobs/task.ts'
import { report } from '../../platform/journal.ts'
import { allEnded } from '../../platform/pause.ts'
import { recipeIn, whereDataIs } from '../data.ts'
import type { BackupDeps } from '../deps.ts'
import { containersOf } from '../hold.ts'
import { undoLoad } from '../recipes/index.ts'
import type { Backup } from '../store.ts'
import { findSubject, workloadOf } from '../subject.ts'
import type { SubjectKey } from '../subject.ts'
import { chosenIn } from './choices.ts'
import { serverIn } from './servers.ts'

type Undoing = {
  backup: Backup
  /** What its data was to replace that of. */
  into: SubjectKey
  /** What chooses one alone; null for all that it has. */
  database: string | null
  /** Aborted when the next process does it, or the subject is being deleted. */
  signal: AbortSignal
}

/** In milliseconds. */
const timeout = 60_000

/**
 * Puts right what loads that Davit’s end ended may have left in the servers, such as a Redis that refuses writes, as
 * it still follows a server that no longer exists. Returns true when nothing is left. A failure is only reported.
 */
export async function undoLoads(
  deps: BackupDeps,
  { backup, into, database, signal: outer }: Undoing,
): Promise<boolean> {
  const { id, ownerId } = backup
  const signal = AbortSignal.any([outer, AbortSignal.timeout(timeout)])
  try {
    const subject = findSubject(deps.db, { ...into, ownerId })
    const workload = subject && workloadOf(subject)
    if (!workload) return true
    const { recipe } = await recipeIn(deps, { subject, workload })
    const containers = await containersOf(deps, workload, { signal })
    const there = whereDataIs(deps, workload)
    const work = chosenIn(backup, database).map(async ({ contents, only }) => {
      const source = recipe.databases.find((one) => one.component === contents.component)
      if (!source) return
      const { component } = source
      const { containerId, isHeld } = serverIn(containers, { component, held: backup.held })
      // its volumes come first, so nothing was loaded into it before it runs again
      if (isHeld) return
      const server = { source, containerId, ownerId }
      await undoLoad(there, { ...server, contents, database: only, signal })
    })
    await allEnded(work)
    return true
  } catch (error) {
    if (outer.reason === cancelled) return false
    outer.throwIfAborted()
    report('a load that Davit’s end ended isn’t cleaned up', error, { backup: id })
    return false
  }
}
