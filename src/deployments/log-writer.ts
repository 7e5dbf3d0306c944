import type { Deps } from '../deps.ts'
import { journal } from '../journal.ts'
import type { Mask } from '../logs/mask.ts'
import { PieceMask } from '../logs/mask-pieces.ts'
import { splitLine } from '../logs/split-line.ts'
import { LogBatch } from './log-batch.ts'
import { getLastSequence, prepareInsert } from './log-store.ts'
import type { LogLine, Stream } from './log-store.ts'

/** A batch is stored after so many milliseconds or lines, whichever comes first. */
const maxDelay = 50
const maxLines = 500

/**
 * Writes the log of one deployment: masks, numbers, stores, then publishes, in batches. Whoever
 * hears of a line can also find it. Call `flush` before every change of state; it never throws,
 * because a log that cannot be stored must not hold up what it tells of.
 */
export class LogWriter {
  readonly #deploymentId: string
  readonly #logs: Deps['logs']
  readonly #insert: (lines: LogLine[]) => void
  /** Hides what no log may show. */
  mask: Mask = (text) => text
  readonly #pieces = new PieceMask<Stream>()
  #sequence: number
  #waiting: LogLine[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ logDb, logs }: Pick<Deps, 'logDb' | 'logs'>, deploymentId: string) {
    this.#deploymentId = deploymentId
    this.#logs = logs
    this.#insert = prepareInsert(logDb, deploymentId)
    this.#sequence = getLastSequence(logDb, deploymentId)
  }

  write(text: string, stream: Stream = 'system') {
    const time = Date.now()
    for (const piece of splitLine(this.#pieces.apply(this.mask, { stream, text })))
      this.#waiting.push({ sequence: ++this.#sequence, time, stream, text: piece })
    if (this.#waiting.length >= maxLines) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), maxDelay)
  }

  flush() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting.length === 0) return
    const lines = this.#waiting
    this.#waiting = []
    try {
      this.#insert(lines)
    } catch (error) {
      journal.error('log lines were not stored', error, { deployment: this.#deploymentId })
      this.#sequence = lines[0]!.sequence - 1
      return
    }
    this.#logs.publish(this.#deploymentId, new LogBatch(lines))
  }
}
