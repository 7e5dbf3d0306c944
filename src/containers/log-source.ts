import type { LogDb } from '../db/index.ts'
import type { Docker, EngineFeed } from '../docker/index.ts'
import { outputOf } from '../logs/answer-log.tsx'
import type { Logs } from '../logs/logs.ts'
import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import type { LogFilter } from '../logs/read-log.ts'
import type { ObservedContainers } from '../runtime/observed-containers.ts'
import { engineLog } from './engine-log.ts'
import type { FoundContainer } from './find.ts'
import { keptLog } from './kept-log.ts'
import type { Line, LineFormat } from './log-line.ts'

export type LogDeps = {
  observed: ObservedContainers
  docker: Docker
  feed: EngineFeed
  logDb: LogDb
  logs: Logs
  masks: Masks
}

export type LogWanted = Omit<LogFilter, 'container'> & {
  /** The number of last lines to start with. */
  tail?: number | undefined
  signal: AbortSignal
}

export type LogFound = Omit<LogWanted, 'tail'> & {
  after?: string | undefined
  before?: number | undefined
  limit: number
  /** Ends a response after this many characters. */
  maxLength?: number | undefined
}

export type LogPage = { lines: Line[]; previous: number | null; next: number | null }

/** Lines, or a note between them, as SSE events. */
export type LogItem = { events: (format: LineFormat) => string | Uint8Array }

/** A log that can be read from the engine or from storage. */
export type LogSource = {
  /** The last lines, oldest first; fewer when they are very long. */
  last: (wanted: LogWanted & { tail: number; maxLength?: number }) => Promise<Line[]>
  /** Lines after a sequence number, or the last ones before it. `next` and `previous` continue it. */
  find: (wanted: LogFound) => Promise<LogPage>
  /** All lines, oldest first, in batches. */
  each: (wanted: LogWanted & { after?: string | undefined }) => AsyncGenerator<Line[]>
  /**
   * Yields the selected lines, then new ones, without gaps or repeats as far as the
   * lines still exist, with notes about the container in between.
   */
  follow: (wanted: LogWanted & { after?: string | undefined }) => AsyncGenerator<LogItem>
}

/**
 * Logs of environments and services are stored and read from storage; others are read from
 * the engine. The secrets of an app or service are masked for every reader.
 */
export function sourceOf(deps: LogDeps, { container, place }: FoundContainer): LogSource {
  const source = place.kind === 'own' ? (place.environment ?? place.service) : null
  if (source) return keptLog(deps, container, outputOf(source))
  return engineLog(deps, container.id, () => maskOf(deps, { container, place }))
}

/** The mask for the current secrets of the container's app or service. */
export const maskOf = async ({ masks }: { masks: Masks }, { container, place }: FoundContainer) =>
  place.kind === 'own' ? masks.ofContainer(container) : nothingHidden
