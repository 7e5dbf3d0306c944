import { diskFull, isDiskFull } from '../db/failures.ts'
import type { LogDb } from '../db/index.ts'
import { report } from '../platform/journal.ts'
import { nothingHidden } from './masks.ts'
import { PieceMask } from './mask.ts'
import { storable } from './block.ts'
import { getLogUse, LogBounds } from './log-bounds.ts'
import type { LogUse } from './log-bounds.ts'
import type { NewLine } from './log-line.tsx'
import type { Logs } from './logs.ts'
import type { LogKey } from './store.ts'
import { inStreamOrder } from './stream-order.ts'

type Stream = NewLine['stream']

/** A batch is stored after this many milliseconds, lines or characters, whichever comes first. */
const maxDelay = 50
const maxLines = 500
const maxLength = 64 * 1024

/** The time of arrival, since a builder sends each stream separately. */
const clock = { timeOf: ({ time }: NewLine) => time, lead: 5 }

/**
 * Writes the log of one deployment or job in batches. Call `flush` before every change of state. Never
 * throws: a log that can't be stored blocks nothing, and missing lines are reported later.
 */
export class LogWriter {
  readonly #log: LogKey
  readonly #logs: Logs
  /** Masks secrets in the following lines. */
  mask = nothingHidden
  readonly #pieces = new PieceMask<Stream>()
  #waiting: NewLine[] = []
  #waitingLength = 0
  readonly #bounds: LogBounds
  /** Lines that couldn't be stored; the log reports them as soon as possible. */
  #lost = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ logDb, logs }: { logDb: LogDb; logs: Logs }, log: LogKey, bounds?: LogUse) {
    this.#log = log
    this.#logs = logs
    this.#bounds = new LogBounds(getLogUse(logDb, log), bounds)
  }

  write(text: string, stream: Stream = 'system') {
    if (this.#bounds.isClosedTo(stream)) return
    for (const piece of storable(this.#pieces.apply(this.mask.mask, { stream, text }))) {
      const kept = this.#bounds.admit({ time: Date.now(), stream, text: piece })
      if (!kept) break
      this.#waiting.push(kept)
      this.#waitingLength += kept.text.length
    }
    if (this.#waiting.length >= maxLines || this.#waitingLength >= maxLength) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), maxDelay)
  }

  flush() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting.length === 0 && this.#lost === 0) return
    const lines = inStreamOrder(this.#waiting, clock)
    this.#waiting = []
    this.#waitingLength = 0
    if (this.#lost > 0)
      lines.unshift({
        time: Date.now(),
        stream: 'system',
        text: `${this.#lost} lines are missing here, because they couldn’t be stored.`,
      })
    try {
      this.#logs.write(this.#log, lines, { state: this.mask.state })
    } catch (error) {
      this.#lose(lines, error)
      return
    }
    this.#lost = 0
  }

  /** Flushes for the last time. */
  end() {
    this.flush()
    this.#logs.forget(this.#log)
  }

  #lose(lines: NewLine[], error: unknown) {
    const fields = { log: this.#log.logId }
    if (this.#lost === 0)
      report('log lines were not stored', isDiskFull(error) ? diskFull(error) : error, fields)
    this.#lost += lines.length - (this.#lost > 0 ? 1 : 0)
  }
}
