import type { Condition, ObservedContainers } from '../runtime/observed-containers.ts'
import { serverNames } from '../runtime/on-engine.ts'
import type { ServerList } from '../runtime/on-engine.ts'
import { processLabel } from '../logs/log-line.tsx'
import { lookOfContainer } from '../web/status-badge.tsx'
import { isUp } from '../runtime/workload.ts'
import type { ContainerOwner, Listed, OwnPlace } from './find.ts'
import type { UsagePoller } from './usage/poller.ts'
import type { Measurement } from './usage/shown.ts'

/** Everything that is known of a container without a request for it alone. */
export type Row = Listed & {
  /** Null until it was inspected. */
  condition: Condition | null
  looping: boolean
  /** Null unless it is running and was measured. */
  usage: Measurement | null
  /** The name of its server; null while there is only one. */
  server: string | null
}

export type RowDeps = { observed: ObservedContainers; usage: UsagePoller; serverList: ServerList }

/** Of what was listed at one time. */
export function rowsOf({ observed, usage, serverList }: RowDeps, all: Listed[]): Row[] {
  const names = serverNames({ serverList })
  return all.map((listed) => ({
    ...listed,
    condition: observed.condition(listed.container.id),
    looping: observed.isLooping(listed.container.id),
    usage: listed.container.state === 'running' ? usage.latest(listed.container.id) : null,
    server: names.get(listed.container.serverId) ?? null,
  }))
}

export const lookOfRow = ({ container, place, condition, looping }: Omit<Row, 'usage'>) =>
  isKept(place) && !isUp(container)
    ? keptLook
    : lookOfContainer({ ...container, oomKilled: condition?.oomKilled ?? false, looping })

/** True for a container of the version before the live one, which a rollback starts again. */
export const isKept = (place: ContainerOwner) =>
  place.kind === 'own' && place.deployment?.isKept === true

export const keptLook = { word: 'Kept', tone: 'quiet', icon: 'square' } as const

/** Null if Davit didn't stop it, or if it was started again. */
export const stopReasonOf = ({ container, place }: Pick<Row, 'container' | 'place'>) =>
  place.kind === 'own' && !isUp(container) ? (place.deployment?.stopReason ?? null) : null

/** Such as `worker`, or `worker 2` if there are replicas. */
export const processText = ({ name, replica }: NonNullable<OwnPlace['process']>) =>
  processLabel({ process: name, replica })
