import { LineBatch } from '../web/line-batch.ts'
import { logLineHtml } from '../web/log-line.tsx'
import type { LogLine } from './log-store.ts'
import type { Status } from './store.ts'

/** What the hub carries for a deployment: lines that are stored already, or its new state. */
export type DeploymentEvent = LogBatch | { status: Status }

/** Lines of a deployment's log. */
export class LogBatch extends LineBatch<LogLine> {
  constructor(lines: LogLine[], state: string | null = null) {
    super(lines, { html: logLineHtml, json: logLineJson }, state)
  }

  /** The lines after that sequence; itself when that is all of them. */
  after(sequence: number) {
    return this.first > sequence ? this : new LogBatch(this.since(sequence), this.state)
  }
}

/** A line as programs see it. */
export const logLineJson = ({ sequence, time, stream, text }: LogLine) => ({
  seq: sequence,
  time: new Date(time).toISOString(),
  stream,
  text,
})
