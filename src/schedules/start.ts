import { findUser } from '../accounts/store.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import type { ScheduleProblem } from '../db/schema.ts'
import { getMain } from '../environments/store.ts'
import { keepDue } from '../jobs/due.ts'
import type { Timed } from '../jobs/due.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { insertJob, requestCancel } from '../jobs/store.ts'
import { usualTimeout } from '../platform/limits.ts'
import { report } from '../platform/journal.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { noteNotStarted } from '../runs/schedule-notice.ts'
import { bySchedule, insertRun } from '../runs/store.ts'
import { getScheduleIn, listUnfinished, schedules } from './store.ts'
import type { ScheduleIn } from './store.ts'

export type ScheduleDeps = { db: Db; jobs: Jobs; scheduler: Scheduler }

/** Runs of one schedule that may wait for each other. */
const mostWaiting = 10

export const keepSchedules = (deps: ScheduleDeps, { signal }: { signal: AbortSignal }) =>
  keepDue(deps, timed(deps), { signal })

export const timed = ({
  db,
  jobs,
}: Pick<ScheduleDeps, 'db' | 'jobs'>): Timed<typeof schedules> => ({
  table: schedules,
  begin({ id }, { isMissed }) {
    const found = getScheduleIn(db, id)
    if (!found) return null
    const isSkipped = isMissed && found.schedule.missed === 'skip'
    const { problem, replaced } = isSkipped ? missed : insert(db, found)
    if (problem?.reason === 'nothing_deployed')
      noteNotStarted(db, found, found.schedule, problem.message)
    return { ...(problem && { problem }), after: () => follow(jobs, replaced ?? []) }
  },
  failed: 'what is scheduled was not started',
})

type Begun = { problem?: ScheduleProblem; runId?: string; replaced?: string[] }

/** Stores a run, unless the last one continues, nothing is deployed or its owner is disabled. */
export function insert(
  db: Db,
  { schedule, environment, project }: ScheduleIn,
  startedBy = bySchedule(schedule.name),
): Begun {
  if (findUser(db, project.ownerId).disabledAt) return { problem: ownerDisabled }
  const live = getMain(db, environment.id)
  if (!live) return { problem: { reason: 'nothing_deployed', message: nothing(environment.name) } }
  const others = listUnfinished(db, schedule.id)
  const maxOthers = { skip: 0, queue: mostWaiting, replace: Infinity }[schedule.overlap]
  if (others.length > maxOthers) return { problem: overlapping }
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
  if (replaced.length > 0)
    jobs
      .cancel(replaced)
      .catch((error) => report('what a schedule replaces could not be cancelled', error))
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
