import type { ContainerLogsOptions, Docker } from '../docker/index.ts'
import { EngineError } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import type { SourceMask } from '../logs/masks.ts'
import { Numbering } from './log-line.ts'
import type { Line } from './log-line.ts'
import type { LogPlace } from './log-place.ts'

/** A container, and what hides its secrets at this moment. */
export type LogSource = { id: string; mask: () => Promise<SourceMask> }

export type LogWanted = {
  tail?: number | undefined
  since?: Date | undefined
  until?: Date | undefined
}

/** What the engine has of a container's log, oldest first, as it comes in; with a place, only what is behind it. */
export async function* readLog(
  docker: Pick<Docker, 'containerLogs'>,
  { id, mask }: LogSource,
  {
    place,
    ...wanted
  }: LogWanted & {
    place?: LogPlace | undefined
    follow?: boolean
    signal?: AbortSignal | undefined
  },
): AsyncGenerator<Line[]> {
  const numbering = new Numbering()
  const options = given({ ...wanted, ...(place && { since: place.since }), timestamps: true })
  for await (const batch of docker.containerLogs(id, options)) {
    const dated = batch.filter(({ timestamp }) => timestamp !== null)
    const hidden = await mask()
    const lines = dated.map((line) => numbering.number(line, hidden))
    const news = place ? place.take(lines) : lines
    if (news.length > 0) yield news
  }
  const rest = place?.end() ?? []
  if (rest.length > 0) yield rest
}

/** The container's log driver does not support reading. */
export const isUnreadable = (error: unknown) =>
  error instanceof Failure && error.code === 'logs_unavailable'

/** The container is gone, or going at this moment. */
export const isGone = (error: unknown) =>
  error instanceof EngineError && (error.status === 404 || error.status === 409)

const given = (options: Record<string, unknown>): ContainerLogsOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
