import type { Config } from '../../config.ts'
import type { Db } from '../../db/index.ts'
import type { Docker, Engines } from '../../docker/index.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { DiskSpace } from '../../platform/disk-space.ts'
import { Failure } from '../../platform/errors.ts'
import type { Periodic, Scheduler } from '../../platform/scheduler.ts'
import type { CleanUps } from './clean-ups.ts'
import { diskSpace } from './disk.ts'
import { getSchedule, saveSchedule, scheduleSetAt } from './schedule-store.ts'
import type { Schedule } from './schedule-store.ts'

type CleanUpDeps = {
  db: Db
  docker: Docker
  config: Config
  cleanUps: CleanUps
  jobs: Jobs
  engines: Pick<Engines, 'all'>
  serverEngines: { disks: ReadonlyMap<string, DiskSpace> }
}

/** Milliseconds until a clean-up that couldn't run is tried again. */
const retryDelay = 60_000

/** Runs the clean-up once a day at its hour, or later that day if it was missed or couldn't run. */
export function keepSchedule(
  deps: CleanUpDeps & { scheduler: Scheduler },
  { signal }: { signal: AbortSignal },
) {
  const { db, scheduler } = deps
  let triedAt = 0
  const task: Periodic = {
    next(now) {
      const schedule = getSchedule(db)
      if (!schedule.enabled) return null
      if (!isDue(schedule, { now: new Date(now), setAt: scheduleSetAt(db) }))
        return nextHour(schedule, now)
      return now - triedAt < 0 ? now : Math.max(now, triedAt + retryDelay)
    },
    async run(now) {
      triedAt = now
      await runIfDue(deps, new Date(now))
    },
    failed: 'the clean-up did not run',
  }
  return scheduler.keep(task, { signal })
}

function nextHour({ hour }: Pick<Schedule, 'hour'>, now: number) {
  const at = new Date(now)
  at.setHours(hour, 0, 0, 0)
  if (at.getTime() <= now) at.setDate(at.getDate() + 1)
  return at.getTime()
}

/** Returns true if it ran. An unreachable engine is stored as its outcome, and it stays due. */
export async function runIfDue(deps: CleanUpDeps, now: Date): Promise<boolean> {
  const { db, docker, engines, cleanUps, jobs } = deps
  const { disks } = deps.serverEngines
  const schedule = getSchedule(db)
  if (!isDue(schedule, { now, setAt: scheduleSetAt(db) }) || cleanUps.isBusy) return false
  const { what, threshold } = schedule
  const space = threshold > 0 ? await diskSpace(deps).catch(unlessAway) : null
  if (space instanceof Failure) {
    saveSchedule(db, { lastOutcome: `Could not run: ${space.message}` })
    return false
  }
  const full = engines.all
    .map(({ serverId }) => serverId)
    .filter((id) => ((id === docker.serverId ? space : disks.get(id))?.used ?? 100) >= threshold)
  if (space && full.length === 0) {
    const lastOutcome = `The disk was ${space.used} % full, below ${threshold} %, so nothing was removed.`
    saveSchedule(db, { lastRunAt: now, lastOutcome })
    return true
  }
  const actor = { id: null, email: 'the daily clean-up' }
  const { id } = cleanUps.start({ actor, address: null, what, servers: full, dueAt: now.getTime() })
  await jobs.ended(id)
  return getSchedule(db).lastRunAt?.getTime() === now.getTime()
}

function unlessAway(error: unknown) {
  if (error instanceof Failure) return error
  throw error
}

/** True when today's hour has passed, and neither a run nor a change of the schedule came after it. */
export function isDue(
  { enabled, hour, lastRunAt }: Pick<Schedule, 'enabled' | 'hour' | 'lastRunAt'>,
  { now, setAt }: { now: Date; setAt: Date | null },
) {
  if (!enabled) return false
  const due = new Date(now)
  due.setHours(hour, 0, 0, 0)
  // a time in the future dates from before the clock was set back
  const isSince = (time: Date | null) => time !== null && time >= due && time <= now
  return now >= due && !isSince(lastRunAt) && !isSince(setAt)
}
