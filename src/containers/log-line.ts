import type { ContainerLine } from '../docker/index.ts'
import { PieceMask } from '../logs/mask-pieces.ts'
import type { SourceMask } from '../logs/masks.ts'
import { ansiHtml } from '../web/ansi.ts'

/** A line of a container, as the engine keeps it. */
export type Line = {
  /** The engine's timestamp, and which of several lines with that timestamp: `…Z`, `…Z/2`. */
  id: string
  stream: 'stdout' | 'stderr'
  /** To the nanosecond, in UTC: such texts sort by time. */
  timestamp: string
  text: string
  /** Of the secrets that are hidden in it. */
  state: string
}

export const lineId = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z(\/[1-9]\d{0,5})?$/

export const timestampOf = (id: string) => id.slice(0, 30)

/** Gives lines their ids, in the order of the engine's file, from the first of a timestamp on. */
export class Numbering {
  readonly #last = { stdout: { timestamp: '', count: 0 }, stderr: { timestamp: '', count: 0 } }

  readonly #pieces = new PieceMask<'stdout' | 'stderr'>()

  number({ stream, timestamp, text }: ContainerLine, { mask, state }: SourceMask): Line {
    const time = inUtc(timestamp!)
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
      state,
    }
  }
}

/** Some drivers of the engine write the time of its own zone. */
const inUtc = (timestamp: string) =>
  timestamp.endsWith('Z')
    ? timestamp
    : `${new Date(timestamp).toISOString().slice(0, 19)}.${/\.(\d+)/.exec(timestamp)?.[1]?.padEnd(9, '0') ?? '000000000'}Z`

/** A string: drawing a JSX element for each line is too slow. The time is in UTC; the viewer shows its own. */
export const lineHtml = ({ stream, timestamp, text }: Line, { timestamps = true } = {}) =>
  rowHtml(stream === 'stdout' ? 'line' : 'line stderr', timestamps ? timestamp : null, text)

/** A line of Davit's own among those of the container. */
export const systemLineHtml = (timestamp: string, text: string) =>
  rowHtml('line system', timestamp, text)

const rowHtml = (classes: string, timestamp: string | null, text: string) =>
  `<div class="${classes}">${timestamp === null ? '' : `<time>${shownTime(timestamp)}</time>`}<span>${ansiHtml(text)}</span></div>`

const shownTime = (timestamp: string) => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 23)}`

/** A line as programs see it. */
export const lineJson = ({ id, stream, timestamp, text }: Line) => ({
  time: timestamp,
  stream,
  text,
  id,
})
