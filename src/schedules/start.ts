import { findUser } from '../accounts/store.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import type { ScheduleProblem } from '../db/schema.ts'
import { getCurrent } from '../environments/store.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { insertJob, requestCancel } from '../jobs/store.ts'
import { nextTime } from '../platform/cron.ts'
import { usualTimeout } from '../platform/limits.ts'
import { pause } from '../platform/pause.ts'
import type { Periodic, Scheduler } from '../platform/scheduler.ts'
import { noteNotStarted } from '../runs/schedule-notice.ts'
import { insertRun } from '../runs/store.ts'
import {
  firstDue,
  getScheduleIn,
  listDue,
  listPlanned,
  listUnfinished,
  setSchedule,
} from './store.ts'
import type { ScheduleIn } from './store.ts'

export type ScheduleDeps = { db: Db; jobs: Jobs; scheduler: Scheduler }

/** Milliseconds after which a due time counts as missed: Davit was down, or the clock was put forward. */
const grace = 120_000

/** Milliseconds by which a clock that is put back repeats no time; further back it is corrected. */
const repeated = 3 * 3_600_000

/** Runs of one schedule that may wait for each other. */
const mostWaiting = 10

/** Starts what is due, until the signal. Without schedules it costs nothing. */
export function keepSchedules(deps: ScheduleDeps, { signal }: { signal: AbortSignal }) {
  const { db, scheduler } = deps
  let isPlanned = false
  const task: Periodic = {
    next(now, { wasSet }) {
      isPlanned &&= !wasSet
      return isPlanned ? firstDue(db) : now
    },
    async run(now) {
      if (!isPlanned) await planAgain(db, now)
      isPlanned = true
      await startDue(deps, new Date(now))
    },
    failed: 'what is scheduled was not started',
  }
  return scheduler.keep(task, { signal })
}

/** At Davit's start and when the clock was set: a time that was planned by another clock may be far away. */
export async function planAgain(db: Db, now: number) {
  for (const row of listPlanned(db)) {
    await pause()
    if (row.nextAt!.getTime() <= now) continue // it is due
    const last = row.dueAt?.getTime() ?? 0
    const from = last > now && last - now <= repeated ? last : now
    const nextAt = nextTime(row, new Date(from))
    if (nextAt?.getTime() !== row.nextAt!.getTime()) setSchedule(db, row.id, { nextAt })
  }
}

export async function startDue({ db, jobs }: ScheduleDeps, now: Date) {
  for (const id of listDue(db, now)) {
    await pause()
    start({ db, jobs }, id, now)
  }
}

/** The next time and the run are stored together, so that no time is lost or runs twice. */
function start(deps: Pick<ScheduleDeps, 'db' | 'jobs'>, id: string, now: Date) {
  const { db, jobs } = deps
  const replaced = db.transaction(
    () => {
      const found = getScheduleIn(db, id)
      const { nextAt: dueAt = null } = found?.schedule ?? {}
      if (!found || !dueAt || dueAt > now) {
        if (!found) setSchedule(db, id, { nextAt: null }) // it is being deleted
        return []
      }
      const { schedule } = found
      const isMissed = now.getTime() - dueAt.getTime() > grace
      const begun = isMissed && schedule.missed === 'skip' ? missed : insert(db, found)
      const { problem = null, replaced = [] } = begun
      if (problem?.reason === 'nothing_deployed')
        noteNotStarted(db, found, schedule, problem.message)
      setSchedule(db, id, { nextAt: nextTime(schedule, now), dueAt, problem })
      return replaced
    },
    { behavior: 'immediate' },
  )
  follow(jobs, replaced)
}

type Begun = { problem?: ScheduleProblem; runId?: string; replaced?: string[] }

/** Stores a run, unless the last one continues, nothing is deployed or its owner is disabled. */
export function insert(
  db: Db,
  { schedule, environment, project }: ScheduleIn,
  startedBy = `schedule ${schedule.name}`,
): Begun {
  if (findUser(db, project.ownerId).disabledAt) return { problem: ownerDisabled }
  const live = getCurrent(db, environment.id)
  if (!live) return { problem: { reason: 'nothing_deployed', message: nothing(environment.name) } }
  const others = listUnfinished(db, schedule.id)
  const most = { skip: 0, queue: mostWaiting, replace: Infinity }[schedule.overlap]
  if (others.length > most) return { problem: overlapping }
  const replaced = schedule.overlap === 'replace' ? others : []
  requestCancel(db, replaced)
  const runId = newId()
  // one at a time: the others wait for its end
  insertJob(db, {
    ...{ id: runId, kind: 'run', subjectId: schedule.id },
    ...{ ownerId: project.ownerId, slot: 'schedule' },
  })
  insertRun(db, {
    ...{ id: runId, environmentId: environment.id, deploymentId: live.id },
    ...{ scheduleId: schedule.id, startedBy, command: schedule.command },
    timeout: schedule.timeout ?? usualTimeout,
  })
  return { runId, replaced }
}

/** After the commit. */
export function follow(jobs: Jobs, replaced: string[]) {
  if (replaced.length > 0) void jobs.cancel(replaced)
  jobs.wake()
}

const missed: Begun = {
  problem: { reason: 'missed', message: 'It was missed while Davit was down, and skipped.' },
}

const ownerDisabled: ScheduleProblem = {
  reason: 'owner_disabled',
  message: 'It was skipped, because the account of the project’s owner is disabled.',
}

const overlapping: ScheduleProblem = {
  reason: 'overlap',
  message: 'It was skipped, because the run before had not ended.',
}

const nothing = (name: string) =>
  `It could not run, because nothing is deployed in ${name}. Deploy it first.`
