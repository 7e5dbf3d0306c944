import type { Db, LogDb } from '../db/index.ts'
import type { EngineFeed, Engines } from '../docker/index.ts'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import type { LogFilter } from '../logs/read-log.ts'
import type { ObservedContainers } from '../runtime/observed-containers.ts'
import type { Line, LineFormat } from './log-line.ts'

export type LogDeps = {
  observed: ObservedContainers
  engines: Engines
  feed: EngineFeed
  db: Db
  logDb: LogDb
  logs: Logs
  masks: Masks
}

export type LogWanted = Omit<LogFilter, 'container'> & {
  /** The number of last lines to start with. */
  tail?: number | undefined
  /** The id of the line that they begin after. */
  after?: string | undefined
  signal: AbortSignal
}

export type LogFound = Omit<LogWanted, 'tail'> & {
  before?: number | undefined
  limit: number
  /** Ends a response after this many characters. */
  maxLength?: number | undefined
}

export type LogPage = { lines: Line[]; previous: number | null; next: number | null }

export const noLines: LogPage = { lines: [], previous: null, next: null }

/** In characters, after which the last lines of a log end. */
export const lastLength = 4 * 2 ** 20

export type LogItem = { events: (format: LineFormat) => string | Uint8Array }

/** A log that can be read from the engine or from storage. */
export type LogSource = {
  /**
   * Lines after a sequence number, or the last ones before it, oldest first. Fewer when they are very long, or
   * take long to find; `next` and `previous` continue them.
   */
  find: (wanted: LogFound) => Promise<LogPage>
  /** All lines, oldest first, in batches: also empty ones, as a sign of life while few lines pass. */
  each: (wanted: LogWanted) => AsyncGenerator<Line[]>
  /**
   * Yields the selected lines, then new ones, without gaps or repeats as far as the
   * lines still exist, with notes about the container in between.
   */
  follow: (wanted: LogWanted) => AsyncGenerator<LogItem>
}
