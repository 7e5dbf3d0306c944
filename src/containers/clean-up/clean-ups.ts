import { recordEvent } from '../../audit/record.ts'
import type { Occurrence } from '../../audit/record.ts'
import { retryOnDiskFull } from '../../db/failures.ts'
import { waitForEngine } from '../../docker/retry-while-engine-down.ts'
import { cancelled, stopping } from '../../jobs/jobs.ts'
import type { GivenUp, Jobs, Work } from '../../jobs/jobs.ts'
import { endJob, insertJob, listJobIds, putBackJob } from '../../jobs/store.ts'
import type { Job } from '../../jobs/store.ts'
import { AppError, Failure } from '../../platform/errors.ts'
import { report } from '../../platform/journal.ts'
import { bytes } from '../../web/units.ts'
import type { PruneDeps } from './facts.ts'
import { countByKind } from './kinds.ts'
import { isTickedByDefault } from './plan.ts'
import type { Judged } from './plan.ts'
import { bytesOf, emptyOutcome, prune } from './prune.ts'
import type { Asked, Outcome } from './prune.ts'
import { saveSchedule } from './schedule-store.ts'

/** One clean-up, in work or over. */
export type CleanUp = {
  id: string
  by: string
  startedAt: Date
  finishedAt: Date | null
  outcome: Outcome
  /** What broke it off. */
  error: unknown
}

type Input = Asked &
  Pick<Occurrence, 'actor'> & {
    /** From where; null when no request asked for it. */
    address: string | null
    /** When it was due, of the clean-up of every day. */
    dueAt?: number
  }

/** The subject of clean-ups, of which there is one at a time. */
const engine = 'engine'

/** Clean-ups as jobs. The last one is remembered until Davit ends; the audit log has them all. */
export class CleanUps {
  readonly #deps: PruneDeps & { jobs: Jobs }
  latest: CleanUp | null = null

  constructor(deps: PruneDeps & { jobs: Jobs }) {
    this.#deps = deps
    deps.jobs.handle('clean-up', {
      run: (work) => this.#run(work),
      giveUp: (job, end) => this.#giveUp(job, end),
    })
  }

  get isBusy() {
    return this.#deps.jobs.isBusy(engine)
  }

  start(input: Input): Job {
    if (this.isBusy)
      throw new AppError('conflict', 'A clean-up is at work already. Wait for its result.')
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

  /** Resolves when it has ended, after the thing that it was at. */
  cancel() {
    const { db, jobs } = this.#deps
    const ids = listJobIds(db, { subjectIds: [engine] })
    if (ids.length === 0)
      throw new AppError(
        'conflict',
        'Nothing is under way for the engine. There is nothing to cancel.',
      )
    return jobs.cancel(ids)
  }

  #remember({ id, createdAt: startedAt, ...job }: Job): CleanUp {
    if (this.latest?.id === id && this.latest.finishedAt === null) return this.latest
    const by = inputOf(job).actor.email
    return (this.latest = {
      ...{ id, by, startedAt, finishedAt: null },
      ...{ outcome: emptyOutcome(), error: null },
    })
  }

  async #run({ job, signal, shutdown }: Work) {
    const run = this.#remember(job)
    const input = inputOf(job)
    try {
      const choose = input.dueAt === undefined ? isTickedByDefault : isOldEnough
      await prune(this.#deps, { ...input, choose, signal }, run.outcome)
    } catch (error) {
      run.error = signal.aborted ? brokenOffBy(signal) : error
      if (!signal.aborted) report('a clean-up broke off', error)
    }
    const stops = signal.reason === stopping
    await retryOnDiskFull(() => this.#end(job, { run, stops }), { signal: shutdown })
    run.finishedAt = new Date()
  }

  #giveUp(job: Job, { why }: GivenUp) {
    const run = this.#remember(job)
    run.error ??= why === 'cancelled' ? wasCancelled() : given[why]
    this.#end(job, { run, stops: false })
    run.finishedAt = new Date()
  }

  #end(job: Job, { run, stops }: { run: CleanUp; stops: boolean }) {
    const { db } = this.#deps
    const { actor, address, dueAt, ...asked } = inputOf(job)
    const { removed } = run.outcome
    db.transaction(() => {
      if (!run.error || removed.length > 0) {
        const details = detailsOf(asked, run.outcome)
        recordEvent(db, { actor, address, action: 'engine.pruned', details })
      }
      if (stops) return putBackJob(db, job.id)
      if (dueAt !== undefined) saveSchedule(db, scheduled(run, new Date(dueAt)))
      endJob(db, job.id)
    })
  }
}

/** Goes on with what the last process left, when the engine is there. */
export async function recoverCleanUps(
  { docker, jobs }: Pick<PruneDeps, 'docker'> & { jobs: Jobs },
  { signal }: { signal: AbortSignal },
) {
  if (!(await waitForEngine(docker, { signal }))) return
  await jobs.recover(['clean-up'])
  jobs.wake()
}

const inputOf = ({ input }: Pick<Job, 'input'>) => JSON.parse(input!) as Input

const brokenOffBy = ({ reason }: AbortSignal) =>
  reason === cancelled
    ? wasCancelled()
    : new AppError('unavailable', 'Davit is stopping. The clean-up resumes when it starts again.')

const wasCancelled = () => new AppError('conflict', 'This clean-up was cancelled.')

const given = {
  interrupted: new Failure(
    'interrupted',
    'Davit ended twice during this clean-up.',
    'Look at the memory of the server, then start it again.',
  ),
  broken: new Error('A clean-up broke.'),
}

/** A build cache of today makes the next build fast; it is worth more than its room. */
const isOldEnough = (thing: Judged) => isTickedByDefault(thing) && thing.idle !== false

/** What the schedule says of its last run; while the engine is away it has yet to run that day. */
function scheduled({ outcome: { removed, skipped }, error }: CleanUp, lastRunAt: Date) {
  const went = `Removed ${countByKind(removed)}, ${bytes(bytesOf(removed))}.`
  const left = skipped.length > 0 ? ` Left ${countByKind(skipped)}.` : ''
  if (!error) return { lastRunAt, lastOutcome: went + left }
  if (removed.length > 0) return { lastRunAt, lastOutcome: `${went} It broke off before the end.` }
  if (error instanceof AppError || error === given.interrupted)
    return { lastRunAt, lastOutcome: (error as Error).message }
  if (error instanceof Failure) return { lastOutcome: `Could not run: ${error.message}` }
  return { lastRunAt, lastOutcome: 'It failed. The log of Davit says why.' }
}

/** Names beyond these are only counted. */
const namesTold = 20

function detailsOf(
  { what }: Pick<Asked, 'what'>,
  { removed, skipped }: Outcome,
): Record<string, string> {
  const names = removed.slice(0, namesTold).map(({ name }) => name.slice(0, 120))
  const more = removed.length - names.length
  return {
    of: what.map((kind) => kind.replace('_', ' ')).join(', '),
    removed: countByKind(removed),
    ...(names.length > 0 && { names: names.join(', ') + (more > 0 ? ` and ${more} more` : '') }),
    ...(skipped.length > 0 && { skipped: String(skipped.length) }),
    bytes: bytes(bytesOf(removed)),
  }
}
