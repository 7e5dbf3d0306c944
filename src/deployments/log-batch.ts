import { sseEvent } from '../web/sse.ts'
import { logLineHtml } from '../web/log-line.tsx'
import type { LogLine } from './log-store.ts'
import type { Status } from './store.ts'

/** What the hub carries for a deployment: lines that are stored already, or its new state. */
export type DeploymentEvent = LogBatch | { status: Status }

/** Lines in order, rendered once for all who watch. */
export class LogBatch {
  #html: Uint8Array | undefined
  #json: Uint8Array | undefined

  constructor(readonly lines: LogLine[]) {}

  get first() {
    return this.lines[0]!.sequence
  }

  get last() {
    return this.lines.at(-1)!.sequence
  }

  /** The lines after that sequence; itself when that is all of them. */
  after(sequence: number) {
    if (this.first > sequence) return this
    return new LogBatch(this.lines.filter((line) => line.sequence > sequence))
  }

  /** As SSE events whose data is a line's HTML. */
  get html() {
    return (this.#html ??= this.#encode(logLineHtml))
  }

  /** As SSE events whose data is a line's JSON. */
  get json() {
    return (this.#json ??= this.#encode((line) => JSON.stringify(logLineJson(line))))
  }

  #encode(render: (line: LogLine) => string) {
    const events = this.lines.map((line) => sseEvent({ id: line.sequence, data: render(line) }))
    return new TextEncoder().encode(events.join(''))
  }
}

/** A line as programs see it. */
export const logLineJson = ({ sequence, time, stream, text }: LogLine) => ({
  seq: sequence,
  time: new Date(time).toISOString(),
  stream,
  text,
})
