import type { LogDb } from '../db/index.ts'
import type { Docker, EngineFeed } from '../docker/index.ts'
import { outputOf } from '../logs/answer-log.tsx'
import type { Logs } from '../logs/logs.ts'
import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import type { LogFilter } from '../logs/read-log.ts'
import type { ContainerStates } from './container-states.ts'
import { engineLog } from './engine-log.ts'
import type { Found } from './find.ts'
import { keptLog } from './kept-log.ts'
import type { Line, LineFormat } from './log-line.ts'

export type LogDeps = {
  states: ContainerStates
  docker: Docker
  feed: EngineFeed
  logDb: LogDb
  logs: Logs
  masks: Masks
}

/** Which lines are asked for; what is left out doesn't matter. */
export type LogWanted = Omit<LogFilter, 'container'> & {
  /** The last ones to begin with. */
  tail?: number | undefined
  signal: AbortSignal
}

export type LogFound = Omit<LogWanted, 'tail'> & {
  after?: string | undefined
  before?: number | undefined
  limit: number
  /** Characters after which there are no more lines. */
  maxLength?: number | undefined
}

export type LogPage = { lines: Line[]; previous: number | null; next: number | null }

/** Lines, or what happened between them, as SSE events. */
export type LogItem = { events: (format: LineFormat) => string | Uint8Array }

/** Where the log of a container is read. */
export type LogSource = {
  /** The last lines, oldest first; fewer when they are very long. */
  last: (wanted: LogWanted & { tail: number; maxLength?: number }) => Promise<Line[]>
  /** Lines by their numbers: after one, or the last ones before one. `next` and `previous` say where to go on. */
  find: (wanted: LogFound) => Promise<LogPage>
  /** All lines, oldest first, some at a time. */
  each: (wanted: LogWanted & { after?: string | undefined }) => AsyncGenerator<Line[]>
  /**
   * The lines that are asked for, or those after one, then those that come, without a gap or a repeat as
   * far as they are still there, and what happens to the container between them.
   */
  follow: (wanted: LogWanted & { after?: string | undefined }) => AsyncGenerator<LogItem>
}

/**
 * What the containers of environments and services write is kept, and read there; others are read from
 * the engine. The secrets of an app or service are hidden from every reader.
 */
export function sourceOf(deps: LogDeps, { container, place }: Found): LogSource {
  const source = place.kind === 'own' ? (place.environment ?? place.service) : null
  if (source) return keptLog(deps, container, outputOf(source))
  return engineLog(deps, container.id, () => maskOf(deps, { container, place }))
}

/** What hides the secrets of a container's app or service at this moment. */
export const maskOf = async ({ masks }: { masks: Masks }, { container, place }: Found) =>
  place.kind === 'own' ? masks.ofContainer(container) : nothingHidden
