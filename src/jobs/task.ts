import type { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import { noMask } from '../logs/mask.ts'
import type { Mask } from '../logs/mask.ts'
import { Failure } from '../platform/errors.ts'
import { journal } from '../platform/journal.ts'
import type { SlotCalls, SlotUse } from './slots.ts'
import type { Job, Slot } from './store.ts'

/** Reasons to abort a job: someone cancelled it, or Davit stops and resumes it at its next start. */
export const cancelled = Symbol('cancelled')
export const stopping = Symbol('stopping')

/** One kind of job. Returns undefined once the job's subject was deleted: the job then ends. */
export type Kind = (job: Job) => Task | undefined

/** One job: only what differs between kinds. Created when it starts, and for an end without a start. */
export type Task = {
  /** Gets the last line of `end` when that is stored. */
  log?: LogWriter
  /** Hides the subject's secrets in failures. Default: as the log does. */
  mask?: () => Mask | Promise<Mask>
  /** Continues "Davit crashed twice while". */
  doing: string
  /** Continues "Check the memory of the server, then". */
  again: string
  /** Does the work, and throws what went wrong. It may end the job itself, in a transaction with `endJob`. */
  run: (work: Work) => Promise<void>
  /** Default: an unexpected error inside Davit. Failures need no explanation. */
  explain?: (error: unknown) => Failure | Promise<Failure>
  /**
   * Stores how the job ended, in a transaction with `endJob`. Called again until it doesn't throw. `signal`
   * aborts when nothing should be restored: the subject is being deleted, or the next process does it.
   */
  end: (end: End, signal: AbortSignal) => News | void | Promise<News | void>
  /** Runs after that, before the subject's next job. Its failure is only reported. */
  after?: (end: End, signal: AbortSignal) => Promise<void>
  /** Stores what else changes when it is queued again, in the same transaction. */
  requeue?: (why: 'stop' | 'crash') => (News & { slot?: Slot | null }) | void
}

export type End =
  | { status: 'done' }
  /** `by` isn’t known where Davit cancelled it, or after a crash. */
  | { status: 'cancelled'; by?: string | undefined }
  | { status: 'failed'; failure: Failure }

/** What followers of the job's log get: its last line, and the new state of the subject. */
export type News = { line?: string; status: string }

export type Work = SlotCalls & {
  job: Job
  /** Aborted with `cancelled` or `stopping` as its reason. */
  signal: AbortSignal
  /** Aborted when undoing must end too: the subject is being deleted, or Davit stops. */
  undo: AbortSignal
  /** Aborted when Davit stops: the next process undoes what remains. */
  shutdown: AbortSignal
}

export type Running = SlotUse & {
  abort: AbortController
  undo: AbortController
  /** Null while it runs, or when it was queued again. */
  end: End | null
  by?: string | undefined
  done: Promise<void>
}

/** Does the work. Returns how it ended, with secrets hidden; null when Davit stops and it must be queued again. */
export async function perform(task: Task, work: Work): Promise<End | null> {
  const { job, signal } = work
  try {
    await task.run(work)
    return { status: 'done' }
  } catch (error) {
    if (error === stopping || signal.reason === stopping) return null
    if (signal.reason === cancelled) return { status: 'cancelled' }
    const failure = await explained(task, error)
    if (failure.code === 'internal') journal.error('a job failed', error, fieldsOf(job))
    return { status: 'failed', failure: await withoutSecrets(task, failure) }
  }
}

function explained({ explain }: Task, error: unknown) {
  if (explain) return explain(error)
  return error instanceof Failure ? error : broken
}

/** Followers of the log get its last line before the state that ends it. */
export function publish(
  logs: Pick<Logs, 'publish'>,
  { task: { log }, job, news }: { task: Task; job: Job; news: News | void },
) {
  if (news?.line) log?.write(news.line)
  log?.end()
  if (news) logs.publish(job.id, { status: news.status })
}

/** For the journal. */
export const fieldsOf = ({ id, kind, subjectId }: Job) => ({ job: id, kind, subject: subjectId })

async function withoutSecrets({ log, mask }: Task, failure: Failure) {
  const ofLog = log?.mask.mask ?? noMask
  const hide = mask ? await Promise.try(mask).catch(() => ofLog) : ofLog
  return new Failure(failure.code, hide(failure.message), hide(failure.hint))
}

/** The end of a job that may be the cause of the crashes. */
export const interrupted = ({ doing, again }: Task): End => ({
  status: 'failed',
  failure: new Failure(
    'interrupted',
    `Davit crashed twice while ${doing}.`,
    `Check the memory of the server, then ${again}.`,
  ),
})

export const broken = new Failure(
  'internal',
  'Something went wrong inside Davit.',
  'Davit’s log has the details. Trying again can help.',
)
