import { outputOf } from '../logs/answer-log.tsx'
import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import { engineLog } from './engine-log.ts'
import type { FoundContainer } from './find.ts'
import { keptLog } from './kept-log.ts'
import type { LogDeps, LogSource } from './log-source.ts'

/**
 * Logs of environments and services are stored and read from storage; others are read from
 * the engine. The secrets of an app or service are masked for every reader.
 */
export function openLog(deps: LogDeps, { container, place }: FoundContainer): LogSource {
  const source = place.kind === 'own' ? (place.environment ?? place.service) : null
  if (source) return keptLog(deps, container, outputOf(source))
  const docker = deps.engines.of(container)
  return engineLog({ ...deps, docker }, container.id, () => maskOf(deps, { container, place }))
}

/** The mask for the current secrets of the container's app or service. */
export const maskOf = async ({ masks }: { masks: Masks }, { container, place }: FoundContainer) =>
  place.kind === 'own' ? masks.ofContainer(container) : nothingHidden
