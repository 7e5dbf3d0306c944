import type { PlannedVersion } from '../db/schema.ts'
import { asWriter } from '../db/queries.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import {
  deletePlanned,
  firstPlanned,
  getPlanned,
  listDuePlanned,
  savePlanned,
  setPlannedProblem,
} from '../environments/planned-store.ts'
import { getFreeze } from '../environments/freeze-store.ts'
import type { Planned } from '../environments/planned-store.ts'
import type { Project } from '../projects/store.ts'
import { readMoment } from '../web/moment.ts'
import { getEnvironmentIn } from '../environments/store.ts'
import { inUtc } from './frozen.ts'
import { checkTrigger, enqueue } from './trigger.ts'
import type { TriggerDeps } from './trigger.ts'
import { publishSuperseded, say } from './waiting-store.ts'

export type PlanDeps = TriggerDeps & { scheduler: Scheduler }

type PlanRequest = PlannedVersion & {
  environmentId?: string | null | undefined
  at: string
  zone?: string | null | undefined
}

/** Milliseconds until the latest time. */
const longest = 366 * 24 * 3_600_000

/** Milliseconds after which Davit says that it deploys late. */
const grace = 120_000

/** Replaces what was planned for the environment. It must be possible now, too. */
export function planDeployment(
  { db, scheduler }: PlanDeps,
  {
    project,
    asked: { at: text, zone, environmentId, ...version },
    ...by
  }: { project: Project; asked: PlanRequest } & Pick<Planned, 'trigger' | 'plannedBy'>,
): Planned {
  const at = readMoment(text, zone ?? 'UTC')!
  const left = at.getTime() - scheduler.now()
  if (left <= 0) throw invalidField('at', 'must be in the future.')
  if (left > longest) throw invalidField('at', 'must be within a year.')
  const row = asWriter(db, (tx) => {
    const { environment } = checkTrigger(db, { project, environmentId, ...version })
    const freeze = getFreeze(db, environment.id, at)
    if (freeze)
      throw invalidField(
        'at',
        `must not be in the freeze until ${inUtc(freeze.until)} (${freeze.reason}).`,
      )
    return savePlanned(tx, { ...by, environmentId: environment.id, at, version })
  })
  scheduler.wake()
  return row
}

/** Deploys what is due, until the signal. What was due while Davit was down is deployed once, at its start. */
export const keepPlanned = (deps: PlanDeps, { signal }: { signal: AbortSignal }) =>
  deps.scheduler.keep(
    {
      next: () => firstPlanned(deps.db),
      run(now) {
        for (const { environmentId } of listDuePlanned(deps.db, new Date(now)))
          deployPlanned(deps, environmentId, now)
      },
      failed: 'planned deployments were not started',
    },
    { signal },
  )

/** It is queued and forgotten together, so that it is never deployed twice. */
function deployPlanned(deps: PlanDeps, environmentId: string, now: number) {
  const { db, jobs } = deps
  const begun = asWriter(db, () => {
    const planned = getPlanned(db, environmentId)
    const of = getEnvironmentIn(db, environmentId)
    if (!planned || !of || planned.at.getTime() > now) return null
    try {
      const queued = db.transaction(() => {
        deletePlanned(db, environmentId)
        return enqueue(db, {
          ...planned.version,
          project: of.project,
          environmentId,
          trigger: planned.trigger,
          triggeredBy: planned.plannedBy,
          plannedAt: planned.at,
        })
      })
      return { planned, queued }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      setPlannedProblem(db, environmentId, error.message)
      return null
    }
  })
  if (!begun) return
  const { planned, queued } = begun
  const isLate = now - planned.at.getTime() > grace
  const late = isLate ? ' Davit wasn’t running then, so it is deployed now.' : ''
  say(
    deps,
    queued.deployment,
    `Planned by ${planned.plannedBy} for ${planned.at.toISOString()}.${late}`,
  )
  publishSuperseded(deps, queued)
  jobs.wake()
}
