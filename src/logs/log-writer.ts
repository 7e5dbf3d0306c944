import { diskFull, isDiskFull } from '../db/full.ts'
import type { LogDb } from '../db/index.ts'
import { report } from '../platform/journal.ts'
import { nothingHidden } from './masks.ts'
import { PieceMask } from './mask-pieces.ts'
import { splitLine } from './split-line.ts'
import { getLogUse, LogBounds } from './log-bounds.ts'
import type { LogUse } from './log-bounds.ts'
import type { NewLine } from './log-line.tsx'
import type { Logs } from './logs.ts'
import type { LogKey } from './store.ts'

type Stream = NewLine['stream']

/** A batch is stored after so many milliseconds, lines or characters, whichever comes first. */
const maxDelay = 50
const maxLines = 500
const maxLength = 128 * 1024

/** Lines that make a log a long one; milliseconds in which its readers get the last of them. */
const longLog = 20_000
const collectionDelay = 1000

/**
 * Writes the log of one deployment or job: masks, then has it stored and told, in batches. Call `flush` before every change of state; it never throws,
 * because a log that cannot be stored must not hold up what it tells of: it says what it lacks.
 */
export class LogWriter {
  readonly #log: LogKey
  readonly #logs: Logs
  /** Hides what no log may show. */
  mask = nothingHidden
  readonly #pieces = new PieceMask<Stream>()
  #waiting: NewLine[] = []
  #waitingLength = 0
  /** Lines that went through this writer. */
  #written = 0
  readonly #bounds: LogBounds
  /** Lines that could not be stored, which the log says as soon as it can. */
  #lost = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ logDb, logs }: { logDb: LogDb; logs: Logs }, log: LogKey, bounds?: LogUse) {
    this.#log = log
    this.#logs = logs
    this.#bounds = new LogBounds(getLogUse(logDb, log), bounds)
  }

  write(text: string, stream: Stream = 'system') {
    if (this.#bounds.isClosedTo(stream)) return
    for (const piece of splitLine(this.#pieces.apply(this.mask.mask, { stream, text }))) {
      const kept = this.#bounds.admit({ stream, text: piece })
      if (!kept) break
      this.#waiting.push({ ...kept, time: Date.now() })
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
      lines.unshift({
        time: Date.now(),
        stream: 'system',
        text: `Here lines are missing: ${this.#lost} could not be stored.`,
      })
    try {
      this.#logs.write(this.#log, lines, { state: this.mask.state })
    } catch (error) {
      this.#lose(lines, error)
      return
    }
    this.#written += lines.length
    this.#lost = 0
  }

  /** Flushes for the last time. What a long log leaves in memory, nothing else asks back for long. */
  end() {
    this.flush()
    this.#logs.forget(this.#log)
    if (this.#written >= longLog) setTimeout(() => Bun.gc(true), collectionDelay).unref()
  }

  #lose(lines: NewLine[], error: unknown) {
    const fields = { log: this.#log.logId }
    if (this.#lost === 0)
      report('log lines were not stored', isDiskFull(error) ? diskFull(error) : error, fields)
    this.#lost += lines.length - (this.#lost > 0 ? 1 : 0)
  }
}
