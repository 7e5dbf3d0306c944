import { retryOnDiskFull } from '../db/failures.ts'
import { asWriter } from '../db/queries.ts'
import type { Db, Tx } from '../db/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { journal } from '../platform/journal.ts'
import { onDemand } from '../platform/on-demand.ts'
import { endsWithin, unlessAborted } from '../platform/pause.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import {
  claim,
  deleteFailed,
  deleteSent,
  expedite,
  giveUp,
  listLanes,
  recoverSending,
  retryFailed,
  setFailed,
  setSent,
  setWaiting,
} from './outbox-store.ts'
import type { Claimed, Lane, ParcelKind } from './outbox-store.ts'
import { afterFailure, shortestDelay } from './retries.ts'
import { SendFailure } from './senders/sender.ts'

const second = 1000

const maxSending = 16

/** Of an owner. A receiver that hangs holds one, but a git provider one for each project. */
const maxOfOwner: Record<ParcelKind, number> = { notice: 4, account_mail: 4, commit_status: 2 }

/** Milliseconds for one message, if its sender doesn't end it. */
const timeout = 40 * second

/** Milliseconds for what is on its way when Davit stops. */
const grace = 3 * second

/** One kind of what is sent. */
export type Handler = {
  /** How many of the lane's due ones are one message now; or until when it must wait, in milliseconds. */
  plan: (
    lane: Lane,
    now: number,
    of: { isBehind: boolean },
  ) => { most: number; pause?: number } | { until: number }
  /** Returns the answer. `store` runs in the transaction that notes it. */
  send: (
    message: Claimed,
    signal: AbortSignal,
  ) => Promise<{ answer: string; store?: (tx: Tx) => void }>
  /**
   * Of what has no log; also of what was given up without an attempt. Runs in the transaction that notes it, and
   * returns what is to be said after that.
   */
  failed?: (
    tx: Tx,
    message: Pick<Claimed, 'first'>,
    of: { reason: string; isLast: boolean },
  ) => (() => void) | undefined
  /** Stays in the log when it was sent. */
  isKept: boolean
}

type Busy = Pick<Lane, 'kind' | 'ownerId'> & {
  done: Promise<void>
  /** It was to be sent at once while something of it was on its way. */
  isUrgent: boolean
}

/**
 * Sends what is stored in the outbox, each lane by itself and in its order. The database is the queue; this only
 * knows what is on its way. What was sent when Davit was killed is sent again, with the same id.
 */
export class Outbox {
  readonly #db: Db
  readonly #scheduler: Scheduler
  readonly #handlers = new Map<ParcelKind, () => Promise<Handler>>()
  readonly #busy = new Map<string, Busy>()
  /** Lanes that wait, until when: what is new in one waits, too. */
  readonly #holds = new Map<string, number>()
  /** Failed attempts since the last that was accepted, by lane; of those where one failed. */
  readonly #failures = new Map<string, number>()
  readonly #stop = new AbortController()
  #isWoken = false

  constructor({ db, scheduler }: { db: Db; scheduler: Scheduler }) {
    this.#db = db
    this.#scheduler = scheduler
  }

  /** The code of a kind is loaded with its first message. */
  handle(kind: ParcelKind, load: () => Promise<Handler>) {
    this.#handlers.set(kind, onDemand(load))
  }

  /** For what was just stored, also before its commit. */
  wake = () => {
    if (this.#isWoken) return
    this.#isWoken = true
    setImmediate(() => {
      this.#isWoken = false
      this.#scheduler.wake()
    })
  }

  /** A channel was changed, or its receiver works again: what waited for a retry is sent, as if it never failed. */
  retryNow(lane: string) {
    const busy = this.#busy.get(lane)
    if (busy) busy.isUrgent = true
    this.#forgive(lane)
  }

  #forgive(lane: string) {
    this.#holds.delete(lane)
    this.#failures.delete(lane)
    retryFailed(this.#db, lane)
    this.wake()
  }

  async run({ signal }: { signal: AbortSignal }) {
    let isRecovered = false
    await this.#scheduler.keep(
      {
        next: (now, { wasSet }) => {
          if (!isRecovered) return now
          if (wasSet) this.#restartWaits()
          return this.#nextAt(now)
        },
        run: (now) => {
          if (!isRecovered) recoverSending(this.#db)
          isRecovered = true
          for (const lane of this.#startable()) if (this.#dueAt(lane) <= now) this.#start(lane)
        },
        failed: 'messages could not be sent',
      },
      { signal },
    )
    const ends = Promise.all(this.#busy.values().map(({ done }) => done))
    if (!(await endsWithin(grace, ends))) this.#stop.abort()
    await ends
  }

  /** Resolves when nothing is on its way. */
  async idle() {
    while (this.#busy.size > 0) await Promise.all(this.#busy.values().map(({ done }) => done))
  }

  /** Times that another clock planned may be far away. */
  #restartWaits() {
    this.#holds.clear()
    expedite(this.#db)
  }

  #nextAt(now: number) {
    const dues = this.#startable().map((lane) => this.#dueAt(lane))
    return dues.length === 0 ? null : Math.max(now, Math.min(...dues))
  }

  #dueAt = ({ lane, at }: Lane) => Math.max(at, this.#holds.get(lane) ?? 0)

  #startable() {
    return this.#busy.size < maxSending
      ? listLanes(this.#db).filter((lane) => !this.#busy.has(lane.lane) && this.#hasSlot(lane))
      : []
  }

  /** Those that failed leave one of their owner's to others, as they may hang again. */
  #hasSlot({ kind, ownerId, lane }: Lane) {
    const ofOwner = [...this.#busy.values()].filter(
      (busy) => busy.ownerId === ownerId && busy.kind === kind,
    )
    const limit = maxOfOwner[kind] - (this.#failures.get(lane) ? 1 : 0)
    return this.#busy.size < maxSending && ofOwner.length < limit
  }

  #start(lane: Lane) {
    const { kind, ownerId } = lane
    if (!this.#hasSlot(lane)) return
    const done = this.#send(lane)
      .catch((error) => {
        journal.error('a message was not sent', error, { lane: lane.lane })
        this.#hold(lane.lane, shortestDelay)
      })
      .finally(() => {
        this.#busy.delete(lane.lane)
        this.wake()
      })
    this.#busy.set(lane.lane, { kind, ownerId, done, isUrgent: false })
  }

  async #send(lane: Lane) {
    const handler = await this.#handlers.get(lane.kind)!()
    // the oldest shows whether the receiver is back
    if (this.#failures.get(lane.lane)) retryFailed(this.#db, lane.lane)
    const suspect = await this.#sendNext(handler, lane)
    if (suspect) await this.#sendNext(handler, lane, suspect)
    // what failed was sent before
    const { isUrgent } = this.#busy.get(lane.lane)!
    if (isUrgent && this.#failures.get(lane.lane)) this.#forgive(lane.lane)
  }

  /** The oldest, or another than the one that is suspected of failing by itself. Returns such a one. */
  async #sendNext(handler: Handler, lane: Lane, suspect?: Claimed): Promise<Claimed | undefined> {
    const now = this.#scheduler.now()
    const isBehind = suspect !== undefined
    const plan = handler.plan(lane, now, { isBehind })
    if ('until' in plan) return void this.#holds.set(lane.lane, plan.until)
    const message = claim(this.#db, lane.lane, { now, most: plan.most, suspect })
    if (!message) return undefined
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeout)])
    try {
      const { answer, store } = await unlessAborted(handler.send(message, signal), signal)
      await this.#store((tx) => {
        store?.(tx)
        if (handler.isKept) setSent(tx, message, { answer, at: new Date(this.#scheduler.now()) })
        else deleteSent(tx, message)
      })
      if (this.#failures.has(lane.lane)) this.#failures.set(lane.lane, 0)
      this.#hold(lane.lane, plan.pause ?? 0)
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined // it may have arrived: the next process sends it again
      const { letsPass } = await this.#storeFailure(handler, message, { error, isBehind })
      if (letsPass) return message
    }
    return undefined
  }

  async #storeFailure(
    handler: Handler,
    message: Claimed,
    { error, isBehind }: { error: unknown; isBehind: boolean },
  ) {
    const { lane, first } = message
    const reason = reasonOf(error)
    const { retry = true, retryAfter = 0, left } = error instanceof SendFailure ? error : notKnown
    const uncertain = !isRefusal(error) // it may have arrived, and only the answer didn't
    const now = this.#scheduler.now()
    const failed = { tries: first.tries, inARow: this.#failures.get(lane), isBehind }
    const next = afterFailure({ ...failed, retryAfter: retryAfter * second }, now)
    this.#hold(lane, retry ? next.hold : shortestDelay)
    if (retry) this.#failures.set(lane, next.inARow)
    const says = await this.#store((tx) => {
      const { own, all, before } = next.givesUp
      const nextAt = new Date(now + next.wait)
      if (retry) setWaiting(tx, message, { reason, uncertain, left, nextAt })
      else setFailed(tx, message, reason)
      if (retry && (own || all)) giveUp(tx, message, { reason, before, all })
      return handler.isKept ? [] : endFailed(tx, handler, message, reason)
    })
    for (const say of says) say?.()
    return { letsPass: retry && next.letsPass }
  }

  /** In the time that passes, as the lane's own. */
  #hold(lane: string, milliseconds: number) {
    if (milliseconds > 0) this.#holds.set(lane, this.#scheduler.now() + milliseconds)
    else this.#holds.delete(lane)
  }

  #store<Result>(work: (tx: Db) => Result) {
    const write = () => asWriter(this.#db, () => work(this.#db))
    return retryOnDiskFull(write, { signal: this.#stop.signal })
  }
}

/** Of what has no log. */
function endFailed(tx: Db, handler: Handler, message: Claimed, reason: string) {
  const over = deleteFailed(tx, message.lane)
  const others = over.filter(({ id }) => id !== message.first.id)
  return [
    handler.failed?.(tx, message, { reason, isLast: others.length < over.length }),
    ...others.map((first) => handler.failed?.(tx, { first }, { reason, isLast: true })),
  ]
}

const notKnown: Partial<SendFailure> = {}

/** It certainly didn't arrive. */
const isRefusal = (error: unknown) =>
  error instanceof SendFailure && !/^host_(timeout|unreachable)$/.test(error.code)

function reasonOf(error: unknown) {
  if (error instanceof Failure) return [error.message, error.hint].filter(Boolean).join(' ')
  if (error instanceof AppError) return error.message
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `It didn’t respond within ${timeout / second} seconds.`
  journal.error('a message was not sent', error)
  return 'Something went wrong inside Davit. Its log has the details.'
}
