import { findUser } from '../accounts/store.ts'
import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import type { CommitChecks } from '../db/schema.ts'
import { getFreeze } from '../environments/freeze-store.ts'
import type { Check } from '../git/providers/provider.ts'
import { findSource } from '../git/store.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Logs } from '../logs/logs.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import type { Secrets } from '../platform/secrets.ts'
import { counted } from '../web/units.ts'
import { getJob, listInStatus, updateDeployment } from './store.ts'
import type { Deployment, Job } from './store.ts'
import { endWaiting, holdWaiting, publishStarted, say, startWaiting } from './waiting-store.ts'

type CheckDeps = {
  config: Config
  db: Db
  logDb: LogDb
  logs: Logs
  jobs: Jobs
  secrets: Secrets
  scheduler: Scheduler
}

const second = 1000

/** Milliseconds between two questions about a commit, and after an event about it. */
const interval = 60 * second
const afterEvent = 5 * second

/** Milliseconds for which all must have passed: the next check may only be about to begin. */
export const settle = 10 * second

const timeoutMs = 10 * second

type Observation = { askedAt: number; due: number; greenSince: number | null }

/**
 * Asks providers about the commits that wait for their checks. What a webhook says only makes it ask sooner, so
 * a forged state deploys nothing.
 */
export class CheckWatch {
  readonly #deps: CheckDeps
  /** By deployment. Empty after a start, when all are asked at once. */
  readonly #seen = new Map<string, Observation>()

  constructor(deps: CheckDeps) {
    this.#deps = deps
  }

  run({ signal }: { signal: AbortSignal }) {
    return this.#deps.scheduler.keep(
      {
        next: (now, { wasSet }) => this.#next(now, { wasSet }),
        run: (now) => this.look({ signal }, now),
        failed: 'asking for the checks of commits failed',
      },
      { signal },
    )
  }

  /** Call it when a deployment has begun to wait. */
  wake() {
    this.#deps.scheduler.wake()
  }

  /** Something happened to the commit's checks. Returns false when nothing waits for them. */
  hear({ projectIds, commit }: { projectIds: string[]; commit: string }) {
    const about = this.#waiting().filter(
      (one) => projectIds.includes(one.projectId) && one.requestedCommit === commit,
    )
    for (const { id } of about) {
      const seen = this.#seen.get(id)
      if (seen) seen.due = Math.min(seen.due, seen.askedAt + afterEvent)
    }
    if (about.length > 0) this.wake()
    return about.length > 0
  }

  /** Asks about those that are due. */
  async look({ signal }: { signal: AbortSignal }, now = Date.now()) {
    const waiting = this.#waiting()
    for (const id of this.#seen.keys())
      if (!waiting.some((one) => one.id === id)) this.#seen.delete(id)
    const due = waiting.filter(({ id }) => (this.#seen.get(id)?.due ?? 0) <= now)
    await Promise.all(
      due.map(async ({ id }) => {
        const job = getJob(this.#deps.db, id)
        if (!job) return
        await this.#ask(job, { signal, now }).catch((error) => {
          if (signal.aborted) return
          this.#later(id, now, interval)
          report('a commit that waits for its checks was left', error, { deployment: id })
        })
      }),
    )
  }

  #waiting = () =>
    listInStatus(this.#deps.db, ['waiting']).filter(({ waitUntil }) => waitUntil !== null)

  #next(now: number, { wasSet }: { wasSet: boolean }) {
    if (wasSet) this.#seen.clear() // their times are of another clock
    const dues = this.#waiting().map(({ id }) => this.#seen.get(id)?.due ?? now)
    return dues.length === 0 ? null : Math.min(...dues)
  }

  async #ask(job: Job, { signal, now }: { signal: AbortSignal; now: number }) {
    const { deployment, environment } = job
    if (this.#isHalted(deployment.id)) return this.#later(deployment.id, now, interval)
    if (!environment.waitForChecks)
      return this.#start(job, 'The environment doesn’t wait for checks anymore.')
    const unaskable = whyUnaskable(job)
    if (unaskable) return this.#fail(job, deployment.checks, unaskable)
    const { checks, isGreen, retryMs = interval } = await this.#read(job, signal)
    signal.throwIfAborted()
    if (this.#isHalted(deployment.id)) return this.#later(deployment.id, now, interval)
    if (checks.failed.length > 0) return this.#fail(job, checks, checksFailed(checks))
    const greenSince = isGreen ? (this.#seen.get(deployment.id)?.greenSince ?? now) : null
    this.#keep(deployment, checks)
    if (greenSince !== null && now - greenSince >= settle)
      return this.#start(job, `${counted(checks.passed, 'check')} passed.`)
    const { waitUntil } = deployment
    const left = (waitUntil?.getTime() ?? 0) - now
    if (left <= 0) return this.#fail(job, checks, tookTooLong(checks))
    const after = greenSince === null ? retryMs : settle
    this.#seen.set(deployment.id, { askedAt: now, due: now + Math.min(after, left), greenSince })
  }

  /** Its project may also be deleted while the provider is asked, and it cancelled or superseded. */
  #isHalted(id: string) {
    const job = getJob(this.#deps.db, id)
    if (!job || job.project.deletingAt || job.environment.deletingAt) return true
    if (job.deployment.status !== 'waiting') return true
    return findUser(this.#deps.db, job.project.ownerId).disabledAt !== null
  }

  /** A provider that can't be asked is asked again until the time is over. */
  async #read(
    { deployment, project }: Job,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof summaryOf> & { retryMs?: number }> {
    const none: CommitChecks = { passed: 0, pending: [], failed: [], problem: null }
    const { sourceId, ownerId } = project
    const unasked = (problem: string) => ({ checks: { ...none, problem }, isGreen: false })
    try {
      const source = findSource(this.#deps.db, { id: sourceId!, ownerId })
      const { providers } = await import('../git/providers/registry.ts')
      const { accessTo } = await import('../git/source-access.ts')
      const both = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      const access = accessTo(this.#deps, { source, signal: both })
      const of = { repository: project.repository!, commit: deployment.requestedCommit! }
      const all = await providers[source.provider].listChecks(access, of)
      return summaryOf(all)
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof DOMException) return unasked('The provider didn’t respond in time.')
      if (!(error instanceof AppError || error instanceof Failure)) throw error
      const retryMs = error instanceof AppError ? (error.retryAfter ?? 0) * second : 0
      return { ...unasked(error.message), retryMs: Math.max(interval, retryMs) }
    }
  }

  #keep({ id, environmentId, checks: before }: Deployment, checks: CommitChecks) {
    if (Bun.deepEquals(before, checks)) return
    updateDeployment(this.#deps.db, id, { checks })
    say(this.#deps, { id, environmentId }, checksInWords(checks))
    this.#deps.logs.publish(id, { status: 'waiting' })
  }

  #start({ deployment, project }: Job, why: string) {
    const { db, logs } = this.#deps
    this.#seen.delete(deployment.id)
    const freeze = getFreeze(db, deployment.environmentId)
    if (freeze) {
      holdWaiting(db, deployment, freeze)
      say(this.#deps, deployment, why)
      logs.publish(deployment.id, { status: 'waiting' })
      return
    }
    const queued = startWaiting(db, { deployment, ownerId: project.ownerId })
    if (queued) publishStarted(this.#deps, queued, why) // else it was cancelled or superseded meanwhile
  }

  async #fail({ deployment }: Job, checks: CommitChecks | null, failure: Failure) {
    const { noteFailure } = await import('./notices.ts')
    const { code, message, hint } = failure
    this.#seen.delete(deployment.id)
    const end = {
      ...{ status: 'failed' as const, checks, errorStep: 'waiting', errorCode: code },
      ...{ errorMessage: message, errorHint: hint },
    }
    const note = (db: Db) => noteFailure(db, deployment.id, failure)
    endWaiting(this.#deps, deployment, end, { line: `Failed: ${message} ${hint}`, note })
  }

  #later(id: string, now: number, milliseconds: number) {
    this.#seen.set(id, { askedAt: now, due: now + milliseconds, greenSince: null })
  }
}

/** The source may have been changed since the push, and a provider needn't say which commit a tag has. */
function whyUnaskable({ project, deployment }: Job): Failure | null {
  const why =
    !project.sourceId || !project.repository || deployment.repositoryUrl !== project.repositoryUrl
      ? 'The project has another git source now, or none.'
      : deployment.requestedCommit
        ? null
        : 'The provider didn’t say which commit the tag has.'
  return why === null
    ? null
    : new Failure(
        'checks_unknown',
        `The checks of the commit can’t be known. ${why}`,
        'Deploy it without waiting.',
      )
}

/** Names that are kept of each kind; the rest is counted by the last. */
const maxNames = 20

/** Davit's own statuses would wait for themselves. */
export function summaryOf(all: Check[]): { checks: CommitChecks; isGreen: boolean } {
  const checks = all.filter(({ name }) => !name.startsWith('davit/'))
  const named = (state: Check['state']) => {
    const names = checks.filter((one) => one.state === state).map(({ name }) => plain(name))
    const more = names.length - maxNames
    return more > 0 ? [...names.slice(0, maxNames), `${more} more`] : names
  }
  const passed = checks.filter(({ state }) => state === 'success').length
  return {
    checks: { passed, pending: named('pending'), failed: named('failure'), problem: null },
    isGreen: checks.length > 0 && passed === checks.length,
  }
}

/** One line, as it is shown and logged. */
const plain = (name: string) =>
  name
    .slice(0, 100)
    .toWellFormed()
    .replace(/[\p{C}\u2028\u2029]+/gu, ' ')

export function checksInWords({ passed, pending, failed, problem }: CommitChecks): string {
  if (problem !== null) return `The checks aren’t known. ${problem}`
  if (failed.length > 0) return `Failed: ${failed.join(', ')}.`
  if (pending.length > 0) return `${passed} passed. Not ended: ${pending.join(', ')}.`
  return passed === 0 ? 'No check was reported yet.' : `${passed} passed.`
}

const checksFailed = ({ failed }: CommitChecks) =>
  new Failure(
    'checks_failed',
    `${failed.length === 1 ? 'A check' : 'Checks'} of the commit failed: ${failed.join(', ')}.`,
    'Fix it and push again, or deploy this commit without waiting.',
  )

const tookTooLong = (checks: CommitChecks) =>
  new Failure(
    'checks_timeout',
    `The checks of the commit didn’t pass within an hour. ${checksInWords(checks)}`,
    'Deploy this commit without waiting, or push again when the checks work.',
  )
