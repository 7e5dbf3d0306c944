import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import { outputLogOf } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { engineLog } from './engine-log.ts'
import type { FoundContainer } from './find.ts'
import { keptLog } from './kept-log.ts'
import type { LogDeps, LogSource } from './log-source.ts'

/**
 * Logs of environments and services are stored and read from storage; others are read from
 * the engine. The secrets of an app or service are masked for every reader.
 */
export function openLog(deps: LogDeps, { container, place }: FoundContainer): LogSource {
  const stored = storedLogOf(deps, { container, place })
  if (stored) return keptLog(deps, container, stored)
  const docker = deps.engines.of(container)
  return engineLog({ ...deps, docker }, container.id, () => maskOf(deps, { container, place }))
}

/** Where its output is stored: with that of all containers, or in the log of its job; null when it isn't. */
export function storedLogOf(
  { db }: Pick<LogDeps, 'db'>,
  { container, place }: FoundContainer,
): LogKey | null {
  const source = place.kind === 'own' ? (place.environment ?? place.service) : null
  return source && outputLogOf(db, { containerId: container.id, sourceId: source.id })
}

/** The mask for the current secrets of the container's app or service. */
export const maskOf = async ({ masks }: { masks: Masks }, { container, place }: FoundContainer) =>
  place.kind === 'own' ? masks.ofContainer(container) : nothingHidden
