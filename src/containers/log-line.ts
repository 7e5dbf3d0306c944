import type { ContainerLine } from '../docker/index.ts'
import { PieceMask } from '../logs/mask.ts'
import type { Mask } from '../logs/mask.ts'
import { ansiHtml } from '../web/ansi.ts'

/** A line of a container, as the engine has it or as it is kept. */
export type Line = {
  /** The number of a kept line; of others the engine's timestamp, and which of several with that: `…Z`, `…Z/2`. */
  id: string
  /** `system`: Davit says what happened. */
  stream: 'stdout' | 'stderr' | 'system'
  /** In UTC, to the nanosecond, or the millisecond if it is kept: those of one log sort by time. */
  timestamp: string
  text: string
}

export const lineId = /^(\d{1,15}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z(\/[1-9]\d{0,5})?)$/

export const timestampOf = (id: string) => id.slice(0, 30)

/** How lines are sent: rendered with their times or without, or as JSON. */
export type LineFormat = 'html' | 'bare' | 'json'

export const rendering: Record<LineFormat, (line: Line) => string> = {
  html: (line) => lineHtml(line),
  bare: (line) => lineHtml(line, { timestamps: false }),
  json: (line) => JSON.stringify(lineJson(line)),
}

/** Lines as SSE events. Neither HTML nor JSON of a line has a line break in it. */
export const itemOf = (lines: Line[]) => ({
  events: (format: LineFormat) =>
    lines.map((line) => `id: ${line.id}\ndata: ${rendering[format](line)}\n\n`).join(''),
})

/** Gives lines their ids, in the order of the engine's file, from the first of a timestamp on. */
export class Numbering {
  readonly #last = { stdout: { timestamp: '', count: 0 }, stderr: { timestamp: '', count: 0 } }

  readonly #pieces = new PieceMask<'stdout' | 'stderr'>()

  number({ stream, timestamp, text }: ContainerLine, mask: Mask): Line {
    const time = inUtc(timestamp)
    const { [stream]: own, [stream === 'stdout' ? 'stderr' : 'stdout']: other } = this.#last
    let count = own.timestamp === time ? own.count + 1 : 1
    if (other.timestamp === time) count = Math.max(count, other.count + 1)
    own.timestamp = time
    own.count = count
    return {
      id: count === 1 ? time : `${time}/${count}`,
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

/** A string: drawing a JSX element for each line is too slow. The time is in UTC; the viewer shows its own. */
export function lineHtml(
  { stream, timestamp, text }: Omit<Line, 'id'>,
  { timestamps = true }: { timestamps?: boolean } = {},
) {
  const classes = stream === 'stdout' ? 'line' : `line ${stream}`
  const time = `${timestamp.slice(0, 10)} ${timestamp.slice(11, 23)}`
  return `<div class="${classes}">${timestamps ? `<time>${time}</time>` : ''}<span>${ansiHtml(text)}</span></div>`
}

/** A line as programs see it. */
export const lineJson = ({ id, stream, timestamp, text }: Line) => ({
  time: timestamp,
  stream,
  text,
  id,
})
