import { listEnvironments } from '../../environments/store.ts'
import { AppError } from '../../platform/errors.ts'
import { report } from '../../platform/journal.ts'
import type { Scheduler } from '../../platform/scheduler.ts'
import { KeyedLock, Semaphore } from '../../platform/semaphore.ts'
import type { Project } from '../../projects/store.ts'
import { registryOf } from '../../registries/image-registry.ts'
import type { Check, CheckDeps, CheckOutcome, Version } from './check-image.ts'
import { listFollowing } from './store.ts'

/** Milliseconds between two checks of a project, and the longest pause after failures. */
const interval = 5 * 60_000
const maxPause = 3_600_000

/** Milliseconds for one check, for all of an owner in one round, and for which a check is remembered. */
const limits = { check: 60_000, round: 2 * 60_000, memory: 24 * 3_600_000 }

/** Owners whose projects are checked at once, and checks of one project that wait or run. */
const abreast = { owners: 4, checks: 5 }

export type Checked = {
  at: Date
  found: Version | null
  outcome: string
  hasFailed: boolean
}

type State = { image: string; last: Checked; etag: string | null; failures: number; nextAt: number }

/** Looks for new images of the projects that follow a pattern or a tag, and keeps what it saw last. */
export class ImageWatch {
  readonly #states = new Map<string, State>()
  /** The times between which registries are busy, for each user. */
  readonly #busy = new Map<string, { since: number; until: number }>()
  readonly #locks = new KeyedLock()
  readonly #checks = new Map<string, number>()

  constructor(readonly deps: CheckDeps) {}

  /** Looks every few minutes; where no project follows anything, that is one query. */
  run(scheduler: Scheduler, { signal }: { signal: AbortSignal }) {
    const failed = 'looking for new images failed'
    return scheduler.repeat(interval, () => this.look({ signal }), { signal, failed })
  }

  /** Checks what is due, for each owner one after the other: a slow registry delays only its users. */
  async look({ signal }: { signal: AbortSignal }, now = Date.now()) {
    const following = listFollowing(this.deps.db)
    const ids = new Set(following.map(({ id }) => id))
    for (const [id, { last }] of this.#states)
      if (!ids.has(id) && last.at.getTime() < now - limits.memory) this.#states.delete(id)
    for (const [registry, { since, until }] of this.#busy)
      if (!isBetween(now, since, until)) this.#busy.delete(registry)
    const due = following.filter((project) => this.#isDue(project, now))
    const owners = new Semaphore(abreast.owners)
    const groups = Map.groupBy(due, ({ ownerId }) => ownerId).values()
    await Promise.all(
      Array.from(groups, async (projects) => {
        using _ = await owners.acquire()
        const until = performance.now() + limits.round
        const age = (project: Project) => this.lastOf(project)?.at.getTime() ?? 0
        for (const project of projects.toSorted((a, b) => age(a) - age(b))) {
          if (signal.aborted || performance.now() > until) return
          await this.#lookFor(project, signal)
        }
      }),
    )
  }

  /** The last check of the project's image; null when there was none. */
  lastOf(project: Project): Checked | null {
    return this.#stateOf(project)?.last ?? null
  }

  /** Checks one project now, after other checks of it. */
  async check(asked: Check): Promise<CheckOutcome> {
    const { id } = asked.project
    const before = this.#checks.get(id) ?? 0
    if (before >= abreast.checks)
      throw new AppError('too_many', 'The registry is being asked already. Try again later.', {
        retryAfter: 60,
      })
    this.#checks.set(id, before + 1)
    const late = AbortSignal.timeout(limits.check)
    const signal = AbortSignal.any([asked.signal, late])
    try {
      return await this.#locks.run(id, signal, () => this.#check({ ...asked, signal }))
    } catch (error) {
      if (late.aborted && !asked.signal.aborted)
        throw new AppError('timeout', 'The registry took too long to respond.')
      throw error
    } finally {
      const left = this.#checks.get(id)! - 1
      if (left > 0) this.#checks.set(id, left)
      else this.#checks.delete(id)
    }
  }

  async #check(asked: Check) {
    const { project, tag } = asked
    const { checkImage, whyFailed } = await import('./check-image.ts')
    const before = this.#stateOf(project)
    const { etag = null, last } = before ?? {}
    const keep = (checked: Omit<Checked, 'at'>, etag: string | null) => {
      const failures = checked.hasFailed ? (before?.failures ?? 0) + 1 : 0
      const pause = failures > 0 ? Math.min(interval * 2 ** failures, maxPause) : 0
      this.#states.set(project.id, {
        ...{ image: project.image!, failures, etag, nextAt: Date.now() + pause },
        last: { at: new Date(), ...checked },
      })
    }
    try {
      const outcome = await checkImage(this.deps, {
        ...asked,
        known: etag && last?.found ? { etag, tag: last.found.tag } : undefined,
        onBusy: (until) => this.#busy.set(registryFor(project), { since: Date.now(), until }),
      })
      const { found, reason } = outcome
      // the tag that a webhook names needn't be the newest
      keep({ found, outcome: reason, hasFailed: false }, tag === undefined ? outcome.etag : null)
      return outcome
    } catch (error) {
      const outcome = asked.signal.aborted
        ? 'The registry took too long to respond.'
        : whyFailed(error)
      if (outcome) keep({ found: last?.found ?? null, outcome, hasFailed: true }, etag)
      throw error
    }
  }

  async #lookFor(project: Project, signal: AbortSignal) {
    if (this.#busy.has(registryFor(project))) return
    try {
      const by = { trigger: 'image', triggeredBy: project.image! } as const
      await this.check({ project, by, signal })
    } catch (error) {
      const { whyFailed } = await import('./check-image.ts')
      if (!signal.aborted && whyFailed(error) === null)
        report('a new image was not looked for', error, { project: project.id })
    }
  }

  #stateOf({ id, image }: Project) {
    const state = this.#states.get(id)
    return state?.image === image ? state : undefined
  }

  /** Due where something would be deployed, unless a failure was a moment ago. */
  #isDue(project: Project, now: number) {
    const state = this.#stateOf(project)
    if (state && isBetween(now, state.last.at.getTime(), state.nextAt)) return false
    if (project.image!.includes('@')) return false
    return listEnvironments(this.deps.db, project.id).some(
      ({ autoDeploy, promoteFrom, deletingAt }) =>
        !deletingAt && promoteFrom === null && (autoDeploy ?? project.autoDeploy),
    )
  }
}

/** False before both: the clock was put back since. */
const isBetween = (now: number, since: number, until: number) => since <= now && now < until

const registryFor = ({ ownerId, image }: Project) => `${ownerId} ${registryOf(image!)}`
