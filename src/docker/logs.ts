import type { Engine } from './engine.ts'
import { inspectContainer } from './container-inspect.ts'
import { EngineError } from './failures.ts'
import { readFrames } from './frames.ts'
import { LineSplitter } from './lines.ts'

export type ContainerLine = {
  stream: 'stdout' | 'stderr'
  time: Date | null
  /** The same to the nanosecond, as `since` takes it; null when timestamps were not asked for. */
  timestamp: string | null
  text: string
}

export type ContainerLogsOptions = {
  /** Only the last lines. */
  tail?: number
  /** Goes on with what the container writes until it ends. */
  follow?: boolean
  /** From this time on, inclusive: a Date, or the timestamp of a line. */
  since?: Date | string
  timestamps?: boolean
  signal?: AbortSignal | undefined
}

/**
 * What a container wrote, line by line, stdout and stderr told apart unless it has a terminal.
 * The end of the stream is not the end of the container: look at that with `inspectContainer`.
 */
export async function* containerLogs(
  engine: Engine,
  id: string,
  { tail, follow = false, since, timestamps = false, signal }: ContainerLogsOptions = {},
): AsyncGenerator<ContainerLine> {
  const container = await inspectContainer(engine, id, { signal })
  if (!container) throw new EngineError(404, `No such container: ${id}`)
  const bytes = engine.stream('GET', `/containers/${encodeURIComponent(id)}/logs`, {
    query: {
      stdout: true,
      stderr: true,
      follow,
      timestamps,
      tail,
      since: since && toSeconds(since),
    },
    signal,
  })
  yield* container.tty ? readTerminal(bytes, timestamps) : readOutputs(bytes, timestamps)
}

/** A line longer than a frame comes in several; each begins with the timestamp of the line. */
async function* readOutputs(
  bytes: AsyncIterable<Uint8Array>,
  timestamps: boolean,
): AsyncGenerator<ContainerLine> {
  const splitters = { stdout: new LineSplitter(), stderr: new LineSplitter() }
  const last = { stdout: null as string | null, stderr: null as string | null }
  for await (const { stream, bytes: frame } of readFrames(bytes)) {
    const from = timestamps ? frame.indexOf(space) + 1 : 0
    if (timestamps) last[stream] = Buffer.from(frame.subarray(0, from - 1)).toString()
    for (const text of splitters[stream].push(frame.subarray(from))) {
      yield toLine(stream, last[stream], text)
    }
  }
  for (const stream of ['stdout', 'stderr'] as const) {
    for (const text of splitters[stream].end()) yield toLine(stream, last[stream], text)
  }
}

/** A terminal has one stream without frames; the timestamps stand in the text. */
async function* readTerminal(
  bytes: AsyncIterable<Uint8Array>,
  timestamps: boolean,
): AsyncGenerator<ContainerLine> {
  const splitter = new LineSplitter()
  let timestamp: string | null = null
  const read = (line: string) => {
    if (!timestamps) return toLine('stdout', null, line)
    timestamp = leadingTimestamp.exec(line)?.[1] ?? timestamp
    return toLine('stdout', timestamp, line.replaceAll(`${timestamp} `, ''))
  }
  for await (const chunk of bytes) for (const line of splitter.push(chunk)) yield read(line)
  for (const line of splitter.end()) yield read(line)
}

const space = 0x20
const leadingTimestamp = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) /

const toLine = (stream: 'stdout' | 'stderr', timestamp: string | null, text: string) => ({
  stream,
  time: timestamp === null ? null : new Date(timestamp),
  timestamp,
  text,
})

/** `since` wants seconds and nanoseconds; RFC 3339 is refused. */
function toSeconds(time: Date | string): string {
  const text = typeof time === 'string' ? time : time.toISOString()
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  return `${Math.floor(Date.parse(text) / 1000)}.${fraction.padEnd(9, '0')}`
}
