import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import { noOrigin } from '../logs/block.ts'
import type { Line } from '../logs/log-line.tsx'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import { SendFailure } from '../notifications/senders/sender.ts'
import type { Lookup } from '../platform/hosts.ts'
import { report } from '../platform/journal.ts'
import type { Secrets } from '../platform/secrets.ts'
import { unsealed } from '../resources/store.ts'
import { counted } from '../web/units.ts'
import { logOf, readBatch, startOf } from './read-batch.ts'
import { sealed, senders, sendLines } from './senders/index.ts'
import type { DrainSender } from './senders/sender.ts'
import { getActive, getCursor, getLast, saveCursor } from './store.ts'
import type { Drain, DrainCursor } from './store.ts'

export type BatchDeps = {
  db: Db
  logDb: LogDb
  logs: Logs
  masks: Masks
  secrets: Secrets
  config: Config
  lookup?: Lookup
  /** Certificates to trust, in tests. */
  ca?: string
}

export type Progress = {
  /** When the oldest line that waits was seen, by a clock that nothing sets; null when none does. */
  waitsSince: number | null
  /** How many lines are sent at most: fewer after they were refused. */
  lines: number
  /** How many it may refuse before it is asked whether it takes any. */
  refusable: number
}

/** Refused lines that are left out after an own one was taken: a receiver that then takes nothing costs as many. */
const mostRefused = 100

export type End =
  | { is: 'more' | 'done'; hasSent?: boolean }
  /** After so many seconds, if the receiver said it. */
  | { is: 'failed'; retryAfter: number }

/** Sends the next lines of a drain, and stores how far it is. */
export async function sendBatch(
  deps: BatchDeps,
  id: string,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
): Promise<End> {
  const found = getActive(deps.db, id)
  if (!found) return { is: 'done' }
  const { drain, environment, project } = found
  const log = logOf(drain)
  const { most, waitMs } = senders[drain.kind] as DrainSender
  const cursor = getCursor(deps.logDb, id) ?? (await begin(deps, drain))
  if (getLast(deps.logDb, log) === cursor.sequence) return { is: 'done' }
  const { lines, last, dropped, isFull } = await readBatch(deps, log, {
    after: cursor.sequence,
    most: { ...most, lines: Math.min(most.lines, progress.lines) },
    requests: drain.requests,
  })
  const next = { ...cursor, sequence: last }
  const end = { is: isFull ? ('more' as const) : ('done' as const) }
  if (lines.length === 0) {
    save(deps, drain, next, { sent: 0, dropped })
    return end
  }
  progress.waitsSince ??= performance.now()
  if (!isFull && performance.now() - progress.waitsSince < waitMs) return { is: 'done' }
  const send = (lines: Line[]) =>
    sendLines(sendDepsOf(deps, signal), unsealed(deps.secrets, { kind: 'drain', sealed }, drain), {
      drainId: id,
      environment,
      project,
      lines,
    })
  try {
    const { rejected, reason } = await send(lines)
    const sent = lines.length - rejected
    save(deps, drain, next, { sent, dropped: dropped + rejected, reason })
    progress.waitsSince = null
    progress.lines *= 2
    progress.refusable ||= 1
    return { ...end, hasSent: true }
  } catch (error) {
    if (signal.aborted) return { is: 'done' }
    const failure = asFailure(error, id)
    if (isAboutLines(failure) && lines.length > 1) {
      progress.lines = Math.ceil(lines.length / 2) // until only what is refused is left
      return { is: 'more' }
    }
    const why = isAboutLines(failure)
      ? await whyNone(() => send([ask(drain)]), { progress, failure, id, signal })
      : failure
    if (signal.aborted) return { is: 'done' }
    if (why && !isAboutLines(why)) {
      fail(deps, cursor, { failure: why, dropped: 0 })
      return { is: 'failed', retryAfter: why.retryAfter ?? 0 }
    }
    fail(deps, next, { failure, dropped: dropped + 1 })
    return why
      ? { is: 'failed', retryAfter: failure.retryAfter ?? 0 }
      : { is: 'more', hasSent: true }
  }
}

const isAboutLines = ({ code, retry }: SendFailure) => code === 'refused' && !retry

/** After a line was refused: why the receiver takes no other; null when it does. */
async function whyNone(
  sendOwn: () => ReturnType<typeof sendLines>,
  {
    progress,
    failure,
    id,
    signal,
  }: { progress: Progress; failure: SendFailure; id: string; signal: AbortSignal },
) {
  try {
    if (progress.refusable === 0) {
      const { rejected } = await sendOwn()
      if (rejected > 0) return failure
      progress.refusable = mostRefused
    }
    progress.refusable--
    return null
  } catch (error) {
    return signal.aborted ? failure : asFailure(error, id)
  }
}

/** No line that waits: after a newer one, Loki refuses those before it as too late. */
const ask = ({ name }: Drain): Line => ({
  ...{ ...noOrigin, sequence: 0, time: Date.now(), stream: 'system' },
  text: `Lines of the log drain ${name} were refused. Davit sends this one to see whether others are accepted.`,
})

export const sendDepsOf = (
  { config, lookup, ca }: Pick<BatchDeps, 'config' | 'lookup' | 'ca'>,
  signal: AbortSignal,
) => ({ signal, allowHosts: config.allowHosts, lookup, ca })

async function begin(deps: BatchDeps, drain: Drain): Promise<DrainCursor> {
  const sequence = await startOf(deps, drain)
  const none = { sent: 0, dropped: 0, unsaid: 0 }
  const at = { sentAt: null, error: null, hint: null, failedAt: null }
  const cursor = { drainId: drain.id, sourceId: drain.environmentId, sequence, ...none, ...at }
  saveCursor(deps.logDb, cursor)
  return cursor
}

/** What was left out is said in the log once lines are accepted again, and stored with it, so it is said once. */
function save(
  { db, logDb, logs }: BatchDeps,
  drain: Drain,
  cursor: DrainCursor,
  { sent, dropped, reason }: { sent: number; dropped: number; reason?: string },
) {
  if (!getActive(db, drain.id)) return // it was deleted meanwhile
  const unsaid = cursor.unsaid + dropped
  const isSaid = sent > 0 && unsaid > 0
  const time = Date.now()
  const text = `The log drain ${drain.name} left out ${counted(unsaid, 'line')}: ${reason || 'they were deleted before they could be sent, or the receiver refused them'}.`
  logs.write(logOf(drain), isSaid ? [{ time, stream: 'system', text }] : [], {
    also: () =>
      saveCursor(logDb, {
        ...cursor,
        sent: cursor.sent + sent,
        dropped: cursor.dropped + dropped,
        unsaid: isSaid ? 0 : unsaid,
        ...(sent > 0 && { sentAt: time, error: null, hint: null, failedAt: null }),
      }),
  })
}

function fail(
  { db, logDb }: BatchDeps,
  cursor: DrainCursor,
  { failure: { message: error, hint }, dropped }: { failure: SendFailure; dropped: number },
) {
  if (!getActive(db, cursor.drainId)) return
  saveCursor(logDb, {
    ...cursor,
    dropped: cursor.dropped + dropped,
    unsaid: cursor.unsaid + dropped,
    ...{ error, hint, failedAt: Date.now() },
  })
}

export function asFailure(error: unknown, drain: string) {
  if (error instanceof SendFailure) return error
  report('a log was not drained', error, { drain })
  return new SendFailure(
    'unexpected',
    'It couldn’t be sent.',
    'Davit tries again. If its login was stored with another secret key, enter it again.',
    { retry: true },
  )
}
