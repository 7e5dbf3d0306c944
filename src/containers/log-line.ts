import type { ContainerLine } from '../docker/index.ts'
import { classesOf, lineHtml, timeHtml } from '../logs/log-line.tsx'
import { PieceMask } from '../logs/mask.ts'
import type { Mask } from '../logs/mask.ts'
import { ansiHtml } from '../web/ansi.ts'

export type Line = {
  /** The engine's timestamp, with a counter if several lines share it (`…Z/2`), or a stored line's number. */
  id: string
  /** The viewer sorts and finds lines by it; for lines that aren't stored, derived from the time. */
  sequence: number
  /** `system` lines are messages of Davit itself. */
  stream: 'stdout' | 'stderr' | 'system'
  /** In UTC, to the nanosecond (stored lines: millisecond), so that the times of one log sort as text. */
  timestamp: string
  text: string
}

export const lineId = /^(\d{1,15}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z(\/[1-9]\d{0,14})?)$/

/** Greater than every sequence number. */
export const end = 10 ** 15 - 1

export const timestampOf = (id: string) => id.slice(0, 30)

export type LineFormat = 'html' | 'json'

export const rendering: Record<LineFormat, (line: Line) => string> = {
  html: (line) => lineHtml(shownLine(line)),
  json: (line) => JSON.stringify(lineJson(line)),
}

/** Formats lines as SSE events. Neither HTML nor JSON of a line contains a line break. */
export const itemOf = (lines: Line[]) => ({
  events: (format: LineFormat) =>
    lines.map((line) => `id: ${line.id}\ndata: ${rendering[format](line)}\n\n`).join(''),
})

/** In the form that the viewers of stored logs use. */
export const shownLine = ({ sequence, timestamp, stream, text }: Line) => ({
  ...{ sequence, time: Date.parse(timestamp), stream, text },
  ...{ process: '', replica: null, deploymentId: '', container: '' },
})

/** A row with a message of Davit, which isn't a line of the log. */
export const noteHtml = ({ time, text }: { time: number; text: string }) =>
  `<div class="${classesOf({ stream: 'system', text })}"><a>${timeHtml(time)}</a><span>${ansiHtml(text)}</span></div>`

/** Sequence numbers count microseconds since 2020. */
const epoch = Date.UTC(2020, 0)
export const sequenceAt = (timestamp: string) =>
  (Date.parse(`${timestamp.slice(0, 23)}Z`) - epoch) * 1000 + Number(timestamp.slice(23, 26))
export const timeOfSequence = (sequence: number) => epoch + sequence / 1000

/**
 * Gives lines their ids and their increasing sequence numbers. Lines that share a timestamp are counted in
 * the order of the engine's file; every reader that starts early enough before a line gets the same number.
 */
export class Numbering {
  #sequence = 0
  readonly #last = { stdout: { timestamp: '', count: 0 }, stderr: { timestamp: '', count: 0 } }

  readonly #pieces = new PieceMask<'stdout' | 'stderr'>()

  number({ stream, timestamp, text }: ContainerLine, mask: Mask): Line {
    const time = inUtc(timestamp)
    const { [stream]: own, [stream === 'stdout' ? 'stderr' : 'stdout']: other } = this.#last
    let count = own.timestamp === time ? own.count + 1 : 1
    if (other.timestamp === time) count = Math.max(count, other.count + 1)
    own.timestamp = time
    own.count = count
    this.#sequence = Math.max(this.#sequence + 1, sequenceAt(time))
    return {
      id: count === 1 ? time : `${time}/${count}`,
      sequence: this.#sequence,
      stream,
      timestamp: time,
      text: this.#pieces.apply(mask, { stream, text }),
    }
  }
}

/** Some log drivers write times in their own time zone. */
const inUtc = (timestamp: string) =>
  timestamp.endsWith('Z')
    ? timestamp
    : `${new Date(timestamp).toISOString().slice(0, 19)}.${/\.(\d+)/.exec(timestamp)?.[1]?.padEnd(9, '0') ?? '000000000'}Z`

export const lineJson = ({ id, sequence, stream, timestamp, text }: Line) => ({
  seq: sequence,
  time: timestamp,
  stream,
  text,
  id,
})
