import type { ContainerLine } from '../docker/index.ts'
import { classesOf, lineHtml, timeHtml } from '../logs/log-line.tsx'
import { PieceMask } from '../logs/mask.ts'
import type { Mask } from '../logs/mask.ts'
import { ansiHtml } from '../web/ansi.ts'

/** A line of a container, as the engine has it or as it is kept. */
export type Line = {
  /** The engine's timestamp, and which of several with that, `…Z/2`, or the number of a kept line. */
  id: string
  /** By which the viewer finds it: the number of a kept line, of others one made of the time. */
  sequence: number
  /** `system`: Davit says what happened. */
  stream: 'stdout' | 'stderr' | 'system'
  /** In UTC, to the nanosecond, or the millisecond if it is kept: those of one log sort by time. */
  timestamp: string
  text: string
}

export const lineId = /^(\d{1,15}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z(\/[1-9]\d{0,14})?)$/

/** A number that is behind all lines. */
export const end = 10 ** 15 - 1

export const timestampOf = (id: string) => id.slice(0, 30)

/** How lines are sent: rendered with their times or without, or as JSON. */
export type LineFormat = 'html' | 'bare' | 'json'

export const rendering: Record<LineFormat, (line: Line) => string> = {
  html: (line) => lineHtml(shownLine(line)),
  bare: (line) => rowHtml(line, ''),
  json: (line) => JSON.stringify(lineJson(line)),
}

/** Lines as SSE events. Neither HTML nor JSON of a line has a line break in it. */
export const itemOf = (lines: Line[]) => ({
  events: (format: LineFormat) =>
    lines.map((line) => `id: ${line.id}\ndata: ${rendering[format](line)}\n\n`).join(''),
})

/** A line as viewers of all logs show it. */
export const shownLine = ({ sequence, timestamp, stream, text }: Line) => ({
  ...{ sequence, time: Date.parse(timestamp), stream, text },
  ...{ process: '', replica: null, deploymentId: '', container: '' },
})

/** A row that is no line of the log: Davit says what happened. */
export const noteHtml = ({ time, text }: { time: number; text: string }) =>
  rowHtml({ stream: 'system', text }, `<a>${timeHtml(time)}</a>`)

const rowHtml = ({ stream, text }: Pick<Line, 'stream' | 'text'>, time: string) =>
  `<div class="${classesOf({ stream, text })}">${time}<span>${ansiHtml(text)}</span></div>`

/** The number of a line at that time, in microseconds since 2020, and the time of a number. */
const epoch = Date.UTC(2020, 0)
export const sequenceAt = (timestamp: string) =>
  (Date.parse(`${timestamp.slice(0, 23)}Z`) - epoch) * 1000 + Number(timestamp.slice(23, 26))
export const timeOfSequence = (sequence: number) => epoch + sequence / 1000

/**
 * Gives lines their ids, in the order of the engine's file, from the first of a timestamp on; and their
 * numbers, which rise: they are the same for each who begins long enough before a line.
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

/** Some drivers of the engine write the time of its own zone. */
const inUtc = (timestamp: string) =>
  timestamp.endsWith('Z')
    ? timestamp
    : `${new Date(timestamp).toISOString().slice(0, 19)}.${/\.(\d+)/.exec(timestamp)?.[1]?.padEnd(9, '0') ?? '000000000'}Z`

/** A line in the API. */
export const lineJson = ({ id, sequence, stream, timestamp, text }: Line) => ({
  seq: sequence,
  time: timestamp,
  stream,
  text,
  id,
})
