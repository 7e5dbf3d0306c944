import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import { repeat } from '../platform/pause.ts'
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
import { moveSomeRows } from './old-rows-store.ts'
import type { LogKey } from './store.ts'

const day = 86_400_000

/** Milliseconds between two runs. */
const interval = 3_600_000

/** Milliseconds of lines that one run takes at most: a clock that is wrong for an hour costs no more. */
const atOnce = day

/** Deployments of an environment whose logs stay however old they are. */
const newest = 20

/** Logs that are looked at before others have their turn. */
const logsAtOnce = 100

/** Milliseconds that are left to others while what an earlier version stored is moved. */
const rest = 20

type RetentionDeps = { config: Config; db: Db; logDb: LogDb; logs: Logs }

/** Deletes old logs, now and every hour, and migrates those of an earlier version, until the signal. */
export async function keepLogs(deps: RetentionDeps, { signal }: { signal: AbortSignal }) {
  const work = async () => {
    await dropOldOutput(deps)
    await dropOldLogs(deps, { signal })
    while (!signal.aborted && moveSomeRows(deps)) await sleep(rest)
  }
  await repeat(interval, work, { signal, failed: 'old logs were not removed' })
}

/** Removes what containers wrote that is older than the settings say, and the logs of what is gone. */
export async function dropOldOutput({ config, db, logDb, logs }: RetentionDeps) {
  for (const sourceId of listSources(logDb))
    if (!hasSource(db, sourceId)) await removeLogsOf(logDb, sourceId)
  const oldest = getOldestTime(logDb)
  if (oldest !== null)
    deleteBlocksBefore(logDb, Math.min(Date.now() - config.logDays * day, oldest + atOnce))
  logs.forget()
}

/** Removes the logs of deployments that ended longer ago than the settings say; the newest stay. */
export async function dropOldLogs(
  { config, db, logDb }: Pick<RetentionDeps, 'config' | 'db' | 'logDb'>,
  { signal }: { signal?: AbortSignal } = {},
) {
  let until = Date.now() - config.logDays * day
  let seen = 0
  const next = (log?: LogKey) => getNextLog(logDb, log?.logId ?? '')
  // in the order of the deployments, because their ids are in the order of time
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
