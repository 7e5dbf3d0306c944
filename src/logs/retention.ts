import type { Deps } from '../deps.ts'
import { deleteOutput } from './removal-store.ts'
import { deleteBlocksBefore, getOldestTime, hasSource, listSources } from './output-store.ts'

const day = 86_400_000

/** Milliseconds of lines that one run takes at most: a clock that is wrong for an hour costs no more. */
const atOnce = day

/** Removes kept lines that are older than the settings say, and those of what is gone. */
export function dropOldOutput({ db, logDb, config }: Pick<Deps, 'db' | 'logDb' | 'config'>) {
  for (const sourceId of listSources(logDb))
    if (!hasSource(db, sourceId)) deleteOutput(logDb, sourceId)
  const oldest = getOldestTime(logDb)
  if (oldest === null) return
  deleteBlocksBefore(logDb, Math.min(Date.now() - config.logDays * day, oldest + atOnce))
}
