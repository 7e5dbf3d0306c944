import { diskFull, isDiskFull } from '../db/full.ts'
import type { Deps } from '../deps.ts'
import { report } from '../platform/journal.ts'
import { nothingHidden } from '../logs/masks.ts'
import { PieceMask } from '../logs/mask-pieces.ts'
import { splitLine } from '../logs/split-line.ts'
import { LogBatch } from './log-batch.ts'
import { LogBounds } from './log-bounds.ts'
import { getLastSequence, getLogUse, prepareInsert } from './log-store.ts'
import type { LogLine, LogUse, Stream } from './log-store.ts'

/** A batch is stored after so many milliseconds, lines or characters, whichever comes first. */
const maxDelay = 50
const maxLines = 500
const maxLength = 128 * 1024

/** Lines that make a log a long one; milliseconds in which its readers get the last of them. */
const longLog = 20_000
const collectionDelay = 1000

/**
 * Writes the log of one deployment: masks, numbers, stores, then publishes, in batches. Whoever
 * hears of a line can also find it. Call `flush` before every change of state; it never throws,
 * because a log that cannot be stored must not hold up what it tells of: it says what it lacks.
 */
export class LogWriter {
  readonly #deploymentId: string
  readonly #logs: Deps['logs']
  readonly #insert: (lines: LogLine[]) => void
  /** Hides what no log may show. */
  mask = nothingHidden
  readonly #pieces = new PieceMask<Stream>()
  #sequence: number
  #waiting: LogLine[] = []
  #waitingLength = 0
  /** Lines that went through this writer. */
  #written = 0
  readonly #bounds: LogBounds
  /** Lines that could not be stored, which the log says as soon as it can. */
  #lost = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    { logDb, logs }: Pick<Deps, 'logDb' | 'logs'>,
    deploymentId: string,
    bounds?: LogUse,
  ) {
    this.#deploymentId = deploymentId
    this.#logs = logs
    this.#insert = prepareInsert(logDb, deploymentId)
    this.#sequence = getLastSequence(logDb, deploymentId)
    this.#bounds = new LogBounds(getLogUse(logDb, deploymentId), bounds)
  }

  write(text: string, stream: Stream = 'system') {
    if (this.#bounds.isClosedTo(stream)) return
    for (const piece of splitLine(this.#pieces.apply(this.mask.mask, { stream, text }))) {
      const kept = this.#bounds.admit({ stream, text: piece })
      if (!kept) break
      this.#waiting.push(unnumbered(kept.text, kept.stream))
      this.#waitingLength += kept.text.length
    }
    if (this.#waiting.length >= maxLines || this.#waitingLength >= maxLength) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), maxDelay)
  }

  flush() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting.length === 0 && this.#lost === 0) return
    const lines = this.#waiting
    this.#waiting = []
    this.#waitingLength = 0
    if (this.#lost > 0)
      lines.unshift(unnumbered(`Here lines are missing: ${this.#lost} could not be stored.`))
    let sequence = this.#sequence
    for (const line of lines) line.sequence = ++sequence
    try {
      this.#insert(lines)
    } catch (error) {
      this.#lose(lines, error)
      return
    }
    this.#sequence = sequence
    this.#written += lines.length
    this.#lost = 0
    this.#logs.publish(this.#deploymentId, new LogBatch(lines, this.mask.state))
  }

  /** Flushes for the last time. What a long log leaves in memory, nothing else asks back for long. */
  end() {
    this.flush()
    if (this.#written >= longLog) setTimeout(() => Bun.gc(true), collectionDelay).unref()
  }

  #lose(lines: LogLine[], error: unknown) {
    const fields = { deployment: this.#deploymentId }
    if (this.#lost === 0)
      report('log lines were not stored', isDiskFull(error) ? diskFull(error) : error, fields)
    this.#lost += lines.length - (this.#lost > 0 ? 1 : 0)
  }
}

/** A line gets its number when it is stored. */
const unnumbered = (text: string, stream: Stream = 'system'): LogLine => ({
  sequence: 0,
  time: Date.now(),
  stream,
  text,
})
