import type { Engine } from './engine.ts'
import { Failure } from '../platform/errors.ts'
import { inspectContainer } from './container-inspect.ts'
import { toEngineTime } from './events.ts'
import { EngineError } from './failures.ts'
import { OutputReader, TerminalReader } from './log-lines.ts'
import type { ContainerLine } from './log-lines.ts'
import { isStatus } from './refusals.ts'

export type ContainerLogsOptions = {
  /** Only so many lines from the end. */
  tail?: number | 'all' | undefined
  /** Goes on with what the container writes until it ends. */
  follow?: boolean
  /** From this time on, inclusive: a Date, or the timestamp of a line. */
  since?: Date | string | undefined
  until?: Date | string | undefined
  timestamps?: boolean
  signal?: AbortSignal | undefined
}

/**
 * What a container wrote, in lines, as many at a time as came together; stdout and stderr are told
 * apart unless it has a terminal. Bytes that are not UTF-8 are replaced, lines over 16 KiB are split.
 * The end of the stream is not the end of the container: look at that with `inspectContainer`.
 */
export async function* containerLogs(
  engine: Engine,
  id: string,
  { follow = false, timestamps = false, ...options }: ContainerLogsOptions = {},
): AsyncGenerator<ContainerLine[]> {
  const { tail, since, until, signal } = options
  const container = await inspectContainer(engine, id, { signal })
  if (!container) throw new EngineError(404, `No such container: ${id}`)
  const times = { since: since && toEngineTime(since), until: until && toEngineTime(until) }
  const query = { stdout: true, stderr: true, follow, timestamps, tail, ...times }
  const path = `/containers/${encodeURIComponent(id)}/logs`
  const reader = container.tty ? new TerminalReader(timestamps) : new OutputReader(timestamps)
  try {
    for await (const chunk of engine.stream('GET', path, { query, signal, isBusy: true })) {
      const lines = reader.read(chunk)
      if (lines.length > 0) yield lines
    }
  } catch (error) {
    throw isStatus(error, 501) ? unreadable(container.logDriver, error) : error
  }
  const rest = reader.end()
  if (rest.length > 0) yield rest
}

const unreadable = (driver: string, cause: unknown) =>
  new Failure(
    'logs_unavailable',
    `The engine keeps no log of this container (log driver ${driver}).`,
    'Make the container again with the log driver json-file or local, or read where the driver writes.',
    { cause },
  )
