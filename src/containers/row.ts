import type { Deps } from '../deps.ts'
import type { ContainerSummary } from '../docker/index.ts'
import type { Condition } from './conditions.ts'
import type { Listed } from './find.ts'

/** A container in the list, with all that is known of it without asking for it alone. */
export type Row = Listed & {
  /** Null until it was looked at. */
  condition: Condition | null
  looping: boolean
}

export const rowOf = ({ conditions }: Pick<Deps, 'conditions'>, listed: Listed): Row => ({
  ...listed,
  condition: conditions.of(listed.container.id),
  looping: conditions.isLooping(listed.container.id),
})

export const isUp = ({ state }: Pick<ContainerSummary, 'state'>) =>
  state === 'running' || state === 'paused' || state === 'restarting'

/** Why Davit itself stopped it; null when it did not, or somebody started it again. */
export const stopReasonOf = ({ container, place }: Pick<Row, 'container' | 'place'>) =>
  place.kind === 'own' && !isUp(container) ? (place.deployment?.stopReason ?? null) : null

export const containerPath = ({ id }: { id: string }) => `/containers/${id}`
