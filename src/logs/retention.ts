import type { Deps } from '../deps.ts'
import { deleteOutput } from '../projects/store.ts'
import { deleteBlocksBefore, hasSource, listSources } from './output-store.ts'

const day = 86_400_000

/** Removes kept lines that are older than the settings say, and those of what is gone. */
export function dropOldOutput({ db, logDb, config }: Pick<Deps, 'db' | 'logDb' | 'config'>) {
  for (const sourceId of listSources(logDb))
    if (!hasSource(db, sourceId)) deleteOutput(logDb, sourceId)
  deleteBlocksBefore(logDb, Date.now() - config.logDays * day)
}
