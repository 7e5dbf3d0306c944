import type { LogDb } from '../db/index.ts'
import { bytes as inBytes } from '../web/units.ts'
import { rowOverhead, unpack } from './block.ts'
import type { NewLine } from './log-line.tsx'
import { blocksAfter } from './read-log.ts'
import { getExtent } from './store.ts'
import type { LogKey } from './store.ts'

/** The number of lines, and bytes of text. */
export type LogUse = { lines: number; bytes: number }

/** The limits for the log of one deployment or job. Lines of Davit itself may slightly exceed them. */
export const logBounds = { lines: 1_000_000, bytes: 100 * 2 ** 20 }
const reserve = { lines: 10_000, bytes: 2 ** 20 }

/** Limits a log, so that endless output doesn't fill the disk. A last line says so. */
export class LogBounds {
  readonly #use: LogUse
  readonly #bounds: LogUse
  #isFull: boolean

  constructor(use: LogUse, bounds: LogUse = logBounds) {
    this.#use = { ...use }
    this.#bounds = bounds
    this.#isFull = use.lines > bounds.lines
  }

  /** True when no further lines of that stream are kept. */
  isClosedTo(stream: NewLine['stream']) {
    return this.#isFull && stream !== 'system'
  }

  /** Returns the line, or the note about the limit instead of the first line above it; after that null. */
  admit(line: NewLine): NewLine | null {
    if (this.isClosedTo(line.stream)) return null
    const { lines, bytes } = this.#use
    const size = Buffer.byteLength(line.text)
    const more = line.stream === 'system' ? reserve : { lines: 0, bytes: 0 }
    const fits =
      lines < this.#bounds.lines + more.lines && bytes + size <= this.#bounds.bytes + more.bytes
    if (!fits && line.stream === 'system') return null
    this.#use.lines++
    this.#use.bytes += size
    if (fits) return line
    this.#isFull = true
    return { ...line, stream: 'system', text: this.#notice }
  }

  get #notice() {
    const { lines, bytes } = this.#bounds
    const most = `${lines.toLocaleString('en')} lines or ${inBytes(bytes)}`
    return `This log is full: the maximum is ${most}. Later output is dropped.`
  }
}

/** The current size of a log that is continued after a restart. */
export function getLogUse(logDb: LogDb, log: LogKey): LogUse {
  const lines = getExtent(logDb, log).last
  let bytes = -rowOverhead * lines
  for (const { data } of lines > 0 ? blocksAfter(logDb, log, 0) : [])
    bytes += Buffer.byteLength(unpack(data))
  return { lines, bytes }
}
