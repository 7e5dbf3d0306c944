import { recordEvent } from '../../audit/record.ts'
import type { Occurrence } from '../../audit/record.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { endJob, hasJob, insertJob, listJobIds } from '../../jobs/store.ts'
import type { Job } from '../../jobs/store.ts'
import type { Kind } from '../../jobs/task.ts'
import { AppError, Failure } from '../../platform/errors.ts'
import { report } from '../../platform/journal.ts'
import { bytes } from '../../web/units.ts'
import type { PruneDeps } from './store.ts'
import { bytesOf, countByKind, emptyOutcome, isTickedByDefault } from './kinds.ts'
import type { Outcome } from './kinds.ts'
import type { Judged } from './plan.ts'
import type { PruneRequest } from './prune.ts'
import { saveSchedule } from './schedule-store.ts'

export type CleanUp = {
  id: string
  by: string
  startedAt: Date
  finishedAt: Date | null
  outcome: Outcome
  /** The reason it was aborted; null otherwise. */
  error: unknown
}

type Input = PruneRequest &
  Pick<Occurrence, 'actor'> & {
    /** The client's IP address; null when no request started it. */
    address: string | null
    /** Only set for the daily clean-up. */
    dueAt?: number
  }

/** The subject of all clean-ups, so that only one runs at a time. */
const engine = 'engine'

/** Runs clean-ups as jobs. The last one is kept in memory; the audit log has them all. */
export class CleanUps {
  readonly #deps: PruneDeps & { jobs: Jobs }
  latest: CleanUp | null = null

  constructor(deps: PruneDeps & { jobs: Jobs }) {
    this.#deps = deps
    deps.jobs.handle('clean-up', () => this.#kind)
  }

  get isBusy() {
    return hasJob(this.#deps.db, engine)
  }

  start(input: Input): Job {
    if (this.isBusy)
      throw new AppError('conflict', 'A clean-up is already running. Wait until it has ended.')
    const { db, jobs } = this.#deps
    const job = insertJob(db, {
      kind: 'clean-up',
      subjectId: engine,
      ownerId: input.actor.id,
      slot: 'clean-up',
      input: JSON.stringify(input),
    })
    this.#remember(job)
    jobs.wake()
    return job
  }

  /** Resolves once it has finished its current item and ended. */
  cancel(by: string) {
    const { db, jobs } = this.#deps
    return jobs.cancelFor(by, listJobIds(db, { subjectIds: [engine] }), {
      refusal: () => 'No clean-up is running, so there is nothing to cancel.',
    })
  }

  #remember({ id, createdAt: startedAt, ...job }: Job): CleanUp {
    if (this.latest?.id === id && this.latest.finishedAt === null) return this.latest
    const by = inputOf(job).actor.email
    return (this.latest = {
      ...{ id, by, startedAt, finishedAt: null },
      ...{ outcome: emptyOutcome(), error: null },
    })
  }

  #kind: Kind = (job) => {
    const { db } = this.#deps
    const run = this.#remember(job)
    const { dueAt, ...input } = inputOf(job)
    return {
      doing: 'it cleaned up',
      again: 'start the clean-up again',
      run: async ({ signal }) => {
        const isChosen = dueAt === undefined ? isTickedByDefault : isOldEnough
        const { prune } = await import('./prune.ts')
        try {
          await prune(this.#deps, { ...input, isChosen, signal }, run.outcome)
        } catch (error) {
          if (!signal.aborted) report('a clean-up was aborted', error)
          run.error = error
          throw error
        }
      },
      end: (end) => {
        if (end.status === 'cancelled') run.error = wasCancelled()
        if (end.status === 'failed') run.error ??= end.failure
        db.transaction(() => {
          this.#record(run, input)
          if (dueAt !== undefined) saveSchedule(db, scheduled(run, new Date(dueAt)))
          endJob(db, job.id)
        })
        run.finishedAt = new Date()
      },
      requeue: (why) => {
        if (why === 'crash') return
        run.error = stopped()
        this.#record(run, input)
        run.finishedAt = new Date()
      },
    }
  }

  #record({ error, outcome }: CleanUp, { actor, address, ...asked }: Omit<Input, 'dueAt'>) {
    if (error && outcome.removed.length === 0) return
    const details = detailsOf(asked, outcome)
    recordEvent(this.#deps.db, { actor, address, action: 'engine.pruned', details })
  }
}

const inputOf = ({ input }: Pick<Job, 'input'>) => JSON.parse(input!) as Input

const stopped = () =>
  new AppError('unavailable', 'Davit is stopping. The clean-up resumes when it starts again.')

const wasCancelled = () => new AppError('conflict', 'This clean-up was cancelled.')

/** Recent build cache is worth its space: it makes the next build fast. */
const isOldEnough = (thing: Judged) => isTickedByDefault(thing) && thing.idle !== false

/** Omits the date while the engine is unreachable, so that it is still due that day. */
function scheduled({ outcome: { removed, skipped, away }, error }: CleanUp, lastRunAt: Date) {
  const went = `Removed ${countByKind(removed)}, ${bytes(bytesOf(removed))}.`
  const left = skipped.length > 0 ? ` Kept ${countByKind(skipped)}.` : ''
  const missed = away.length > 0 ? ` Away: ${away.join(', ')}.` : ''
  if (!error) return { lastRunAt, lastOutcome: went + left + missed }
  if (removed.length > 0)
    return { lastRunAt, lastOutcome: `${went} It was aborted before the end.` }
  if (error instanceof AppError || isCrash(error)) return { lastRunAt, lastOutcome: error.message }
  if (error instanceof Failure && error.code !== 'internal')
    return { lastOutcome: `Could not run: ${error.message}` }
  return { lastRunAt, lastOutcome: 'It failed. See Davit’s log.' }
}

const isCrash = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === 'interrupted'

/** More names than this are only counted in the audit log. */
const namesTold = 20

function detailsOf(
  { what }: Pick<PruneRequest, 'what'>,
  { removed, skipped, away }: Outcome,
): Record<string, string> {
  const names = removed.slice(0, namesTold).map(({ name }) => name.slice(0, 120))
  const more = removed.length - names.length
  return {
    of: what.map((kind) => kind.replace('_', ' ')).join(', '),
    removed: countByKind(removed),
    ...(names.length > 0 && { names: names.join(', ') + (more > 0 ? ` and ${more} more` : '') }),
    ...(skipped.length > 0 && { skipped: String(skipped.length) }),
    ...(away.length > 0 && { away: away.join(', ') }),
    bytes: bytes(bytesOf(removed)),
  }
}
