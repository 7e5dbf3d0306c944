import type { Db } from '../db/index.ts'
import { emit } from '../notifications/emit.ts'
import { appName, scheduleFailed, scheduleWorks } from '../notifications/texts.ts'
import { getSchedule } from './store.ts'
import type { RunEnd, RunIn } from './store.ts'

type ScheduleOwner = Pick<RunIn, 'project' | 'environment'>
type Scheduled = { id: string; name: string }

const aboutOf = ({ project, environment }: ScheduleOwner, { id }: Scheduled) => ({
  ownerId: project.ownerId,
  projectId: project.id,
  environmentId: environment.id,
  subject: appName(project, environment),
  of: `schedule ${id}`,
})

/** Tells that a schedule fails, once until it works again. Call it in the transaction of the run's end. */
export function noteScheduleEnd(db: Db, { run, ...owner }: RunIn, end: RunEnd) {
  const schedule = getSchedule(db, run.scheduleId!)
  if (!schedule || end.status === 'cancelled') return
  const { name } = schedule
  const about = aboutOf(owner, schedule)
  const { exitCode, errorMessage, errorHint: hint = null } = end
  const message = errorMessage ?? `Its command exited with code ${exitCode}.`
  emit(db, {
    ...about,
    href: `/envs/${owner.environment.id}/runs/${run.id}`,
    ...(end.status === 'failed'
      ? scheduleFailed({ ...about, name, message, hint })
      : scheduleWorks({ ...about, name })),
  })
}

/** The same for one that couldn't start. */
export function noteNotStarted(db: Db, owner: ScheduleOwner, schedule: Scheduled, message: string) {
  const about = aboutOf(owner, schedule)
  emit(db, {
    ...about,
    href: `/envs/${owner.environment.id}/schedules`,
    ...scheduleFailed({ ...about, name: schedule.name, message, hint: 'Deploy the environment.' }),
  })
}
