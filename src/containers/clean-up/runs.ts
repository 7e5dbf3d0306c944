import { recordEvent } from '../../audit/record.ts'
import type { Occurrence } from '../../audit/record.ts'
import { AppError } from '../../platform/errors.ts'
import { report } from '../../platform/journal.ts'
import { bytes } from '../../web/units.ts'
import type { PruneDeps } from './facts.ts'
import { pruneKinds } from './kinds.ts'
import type { Thing } from './kinds.ts'
import type { Judged } from './plan.ts'
import { bytesOf, emptyOutcome, prune } from './prune.ts'
import type { Asked, Outcome } from './prune.ts'

/** One clean-up, in work or over. */
export type PruneRun = {
  /** Null for the clean-up of every day. */
  userId: string | null
  by: string
  startedAt: Date
  finishedAt: Date | null
  outcome: Outcome
  /** What broke it off. */
  error: unknown
  /** Resolves when it is over, however it ended. */
  done: Promise<void>
  abort: AbortController
}

type Start = Asked &
  Pick<Occurrence, 'actor'> & {
    /** From where; null when no request asked for it. */
    address: string | null
    choose?: (thing: Judged) => boolean
  }

/** Clean-ups, one at a time. The last one is remembered until Davit ends; the audit log has them all. */
export class PruneRuns {
  readonly #deps: PruneDeps
  readonly #stop = new AbortController()
  latest: PruneRun | null = null

  constructor(deps: PruneDeps) {
    this.#deps = deps
  }

  get isBusy() {
    return this.latest?.finishedAt === null
  }

  start({ actor, address, ...asked }: Start): PruneRun {
    if (this.isBusy)
      throw new AppError('conflict', 'A clean-up is at work already. Wait for its result.')
    const run: PruneRun = {
      userId: actor.id,
      by: actor.email,
      startedAt: new Date(),
      finishedAt: null,
      outcome: emptyOutcome(),
      error: null,
      done: Promise.resolve(),
      abort: new AbortController(),
    }
    this.latest = run
    const signal = AbortSignal.any([run.abort.signal, this.#stop.signal])
    run.done = prune(this.#deps, { ...asked, signal }, run.outcome)
      .catch((error) => {
        run.error = error
        if (!signal.aborted) report('a clean-up broke off', error)
      })
      .finally(() => {
        run.finishedAt = new Date()
        if (run.error && run.outcome.removed.length === 0) return // nothing was done
        const details = detailsOf(asked, run.outcome)
        recordEvent(this.#deps.db, { actor, address, action: 'engine.pruned', details })
      })
    return run
  }

  /** Ends what is at work, after the thing that it is at. */
  async cancel() {
    this.latest?.abort.abort(new AppError('conflict', 'This clean-up was cancelled.'))
    await this.latest?.done
  }

  /** The same where that user began it. */
  async cancelOf(userId: string) {
    if (this.latest?.userId === userId) await this.cancel()
  }

  /** Ends what is at work, and whatever else is begun. */
  async stop() {
    this.#stop.abort()
    await this.latest?.done
  }
}

/** Names beyond these are only counted. */
const namesTold = 20

function detailsOf({ what }: Asked, { removed, skipped }: Outcome): Record<string, string> {
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

/** Such as `2 images, 1 network`. */
export function countByKind(things: Pick<Thing, 'kind'>[]) {
  const counts = pruneKinds.flatMap((kind) => {
    const count = things.filter((thing) => thing.kind === kind).length
    return count > 0 ? [`${count} ${count === 1 ? one[kind] : many[kind]}`] : []
  })
  return counts.join(', ') || 'nothing'
}

const many = {
  containers: 'containers',
  images: 'images',
  networks: 'networks',
  volumes: 'volumes',
  build_cache: 'entries of the build cache',
}

const one: typeof many = {
  containers: 'container',
  images: 'image',
  networks: 'network',
  volumes: 'volume',
  build_cache: 'entry of the build cache',
}
