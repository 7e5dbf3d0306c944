import { setImmediate as turn } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { repeat } from '../platform/repeat.ts'
import { getAgeOfLog } from './log-age-store.ts'
import { deleteLogRows } from '../logs/removal-store.ts'
import { nextLogged } from './log-store.ts'

const day = 24 * 3_600_000

/** Milliseconds between two runs. */
const interval = 3_600_000

/** Deployments of an environment whose logs stay however old they are. */
const newest = 20

/** Milliseconds of logs that one run takes at most: a clock that is wrong for a day costs no more. */
const atOnce = day

/** Logs that are looked at before others have their turn. */
const logsAtOnce = 100

type RetentionDeps = Pick<Deps, 'db' | 'logDb' | 'config'>

/** Removes the logs of deployments that ended longer ago than the settings say; the newest stay. */
export async function dropOldLogs(
  { db, logDb, config }: RetentionDeps,
  { signal }: { signal?: AbortSignal } = {},
) {
  let until = Date.now() - config.logDays * day
  let seen = 0
  // in the order of the deployments, because their ids are in the order of time
  for (let id = nextLogged(logDb, ''); id !== null; id = nextLogged(logDb, id)) {
    if (++seen % logsAtOnce === 0) await turn()
    if (signal?.aborted) return
    const log = getAgeOfLog(db, { id, newest })
    if (!log) continue
    if (log.createdAt.getTime() > until) return
    if (!log.finishedAt || log.isAmongNewest || log.finishedAt.getTime() > until) continue
    until = Math.min(until, log.createdAt.getTime() + atOnce)
    while (!signal?.aborted && deleteLogRows(logDb, id)) await turn()
  }
}

/** Drops what is old now and every hour, until the signal. */
export const keepLogs = (deps: RetentionDeps, { signal }: { signal: AbortSignal }) =>
  repeat(interval, () => dropOldLogs(deps, { signal }), {
    signal,
    failed: 'old logs were not removed',
  })
