import type { Engine, StreamOptions } from './engine.ts'
import { Failure } from '../platform/errors.ts'
import { inspectContainer } from './container-inspect.ts'
import { toEngineTime } from './events.ts'
import { EngineError } from './failures.ts'
import { LineSplitter } from './lines.ts'
import { FrameReader, TerminalReader } from './log-entries.ts'
import type { LogEntry } from './log-entries.ts'
import { isStatus } from './refusals.ts'

/** A line as a terminal shows it, or 16 KiB of a longer one, with the timestamp of its last piece. */
export type ContainerLine = Omit<LogEntry, 'ended'>

export type ContainerLogsOptions = {
  /** Number of lines from the end. */
  tail?: number | 'all' | undefined
  /** True to continue with what the container writes until it ends. */
  follow?: boolean
  /** Inclusive: a Date, or the timestamp of a line. */
  since?: Date | string | undefined
  until?: Date | string | undefined
  signal?: AbortSignal | undefined
}

/**
 * A container's output in batches of lines as they arrive; stdout and stderr are separate unless it has a
 * terminal. Bytes that are not UTF-8 are replaced, lines over 16 KiB are split. The stream may end before the
 * container: check that with `inspectContainer`.
 */
export async function* containerLogs(
  engine: Engine,
  id: string,
  { follow = false, tail, since, until, signal }: ContainerLogsOptions = {},
): AsyncGenerator<ContainerLine[]> {
  const container = await inspectContainer(engine, id, { signal })
  if (!container) throw new EngineError(404, `No such container: ${id}`)
  const times = { since: since && toEngineTime(since), until: until && toEngineTime(until) }
  const query = { follow, timestamps: true, tail, ...times }
  const reader = new LineReader()
  try {
    const answer = output(engine, id, { query, signal })
    for await (const entries of readEntries(answer, container)) {
      const lines = reader.read(entries)
      if (lines.length > 0) yield lines
    }
  } catch (error) {
    throw isStatus(error, 501) ? unreadable(container.logDriver, error) : error
  }
  const rest = reader.end()
  if (rest.length > 0) yield rest
}

export type LogSnapshotOptions = {
  /** True when the container has a terminal: its output has no frames. */
  tty: boolean
  /** Number of entries from the end. */
  tail?: number | undefined
  /** Inclusive, in seconds and nanoseconds: `1795219200.000000000`. */
  since?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * Streams a snapshot of a container's output, oldest first. Unlike following, it misses nothing when the
 * files rotate meanwhile: the engine opens them all at once.
 */
export const logSnapshot = (
  engine: Engine,
  id: string,
  { tty, tail, since, signal }: LogSnapshotOptions,
) => readEntries(output(engine, id, { query: { timestamps: true, tail, since }, signal }), { tty })

/** Returns true once the container has written (then read a snapshot), false if the stream ended. */
export async function waitForOutput(
  engine: Engine,
  id: string,
  { signal }: { signal: AbortSignal },
): Promise<boolean> {
  const query = { follow: true, tail: 0 }
  for await (const _ of output(engine, id, { query, signal, isQuiet: true })) return true
  return false
}

const output = (engine: Engine, id: string, { query, ...options }: StreamOptions) =>
  engine.stream('GET', `/containers/${encodeURIComponent(id)}/logs`, {
    query: { stdout: true, stderr: true, ...query },
    ...options,
  })

async function* readEntries(
  answer: AsyncIterable<Uint8Array>,
  { tty }: { tty: boolean },
): AsyncGenerator<LogEntry[]> {
  const reader = tty ? new TerminalReader() : new FrameReader()
  for await (const chunk of answer) {
    const entries = reader.read(chunk)
    if (entries.length > 0) yield entries
  }
  const rest = reader.end()
  if (rest.length > 0) yield rest
}

/** Joins entries to lines, separately for each stream. */
class LineReader {
  readonly #splitters = { stdout: new LineSplitter(), stderr: new LineSplitter() }
  readonly #last = { stdout: '', stderr: '' }

  read(entries: LogEntry[]): ContainerLine[] {
    return entries.flatMap(({ stream, timestamp, text, ended }) => {
      this.#last[stream] = timestamp
      const splitter = this.#splitters[stream]
      if (ended && splitter.isPlain(text)) return { stream, timestamp, text } // true for nearly all
      const lines = splitter.pushText(ended ? `${text}\n` : text)
      return lines.map((text) => ({ stream, timestamp, text }))
    })
  }

  /** Returns incomplete lines. Call it at the end of the stream. */
  end(): ContainerLine[] {
    return (['stdout', 'stderr'] as const).flatMap((stream) =>
      this.#splitters[stream]
        .end()
        .map((text) => ({ stream, timestamp: this.#last[stream], text })),
    )
  }
}

const unreadable = (driver: string, cause: unknown) =>
  new Failure(
    'logs_unavailable',
    `Docker keeps no log of this container (log driver ${driver}).`,
    'Recreate the container with the log driver json-file or local, or read the logs where the driver writes them.',
    { cause },
  )
