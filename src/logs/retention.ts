import { setImmediate as turn } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import { firstServer } from '../platform/root.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { listServers } from '../servers/store.ts'
import { deleteOldCursors } from './cursor-store.ts'
import {
  deleteBlocksBefore,
  deleteSome,
  getAgeOfLog,
  getNextLog,
  getOldestTime,
  hasSource,
  listSources,
  removeLogsOf,
} from './store.ts'
import type { Logs } from './logs.ts'
import type { LogKey } from './store.ts'

const day = 86_400_000

/** In milliseconds, between two runs. */
const interval = 3_600_000

/** In milliseconds of lines that one run removes, so that an hour with a wrong clock costs no more. */
const atOnce = day

/** The newest deployments of an environment, whose logs are always kept. */
const newest = 20

/** Logs that are checked before other work may run. */
const logsAtOnce = 100

type RetentionDeps = { config: Config; db: Db; logDb: LogDb; logs: Logs }
type KeepDeps = RetentionDeps & { scheduler: Scheduler }

/** Until the signal: deletes old logs, now and every hour. */
export async function keepLogs(deps: KeepDeps, { signal }: { signal: AbortSignal }) {
  const work = async () => {
    await dropOldOutput(deps)
    await dropOldLogs(deps, { signal })
  }
  await deps.scheduler.repeat(interval, work, { signal, failed: 'old logs were not removed' })
}

/**
 * Removes output that is older than the settings allow, where it was read up to on servers that are gone, and logs
 * whose subject was deleted.
 */
export async function dropOldOutput({ config, db, logDb, logs }: RetentionDeps) {
  for (const sourceId of listSources(logDb))
    if (!hasSource(db, sourceId)) await removeLogsOf(logDb, sourceId)
  const oldest = getOldestTime(logDb)
  const before = Math.min(Date.now() - config.logDays * day, (oldest ?? Infinity) + atOnce)
  if (oldest !== null) deleteBlocksBefore(logDb, before)
  const servers = [firstServer, ...listServers(db).map(({ id }) => id)]
  deleteOldCursors(logDb, { servers, before })
  logs.forget()
}

/** Removes the logs of deployments that ended earlier than the settings allow; the newest stay. */
export async function dropOldLogs(
  { config, db, logDb }: Pick<RetentionDeps, 'config' | 'db' | 'logDb'>,
  { signal }: { signal?: AbortSignal } = {},
) {
  let until = Date.now() - config.logDays * day
  let seen = 0
  const next = (log?: LogKey) => getNextLog(logDb, log?.logId ?? '')
  // In the order of deployments, since their ids are ordered by time.
  for (let log = next(); log; log = next(log)) {
    if (++seen % logsAtOnce === 0) await turn()
    if (signal?.aborted) return
    const found = getAgeOfLog(db, { id: log.logId, newest })
    if (!found) continue
    if (found.createdAt.getTime() > until) return
    if (!found.finishedAt || found.isAmongNewest || found.finishedAt.getTime() > until) continue
    until = Math.min(until, found.createdAt.getTime() + atOnce)
    while (!signal?.aborted && deleteSome(logDb, log)) await turn()
  }
}
