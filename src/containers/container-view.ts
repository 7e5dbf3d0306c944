import type { Deps } from '../deps.ts'
import type { Container } from '../docker/index.ts'
import { ago } from '../web/times.tsx'
import { conditionOf } from './conditions.ts'
import type { Found } from './find.ts'
import { isUp } from './row.ts'
import type { Row } from './row.ts'
import { getStopReason } from './store.ts'

/** One container with all that its page shows; a row of the list, too. */
export type ContainerView = Row & {
  container: Container & { status: string }
  /** Why Davit stopped it. */
  stopReason: { message: string | null; hint: string | null } | null
}

export function containerView(
  { db, conditions }: Pick<Deps, 'db' | 'conditions'>,
  { container, place }: Found,
): ContainerView {
  const deployment = place.kind === 'own' ? place.deployment : null
  return {
    place,
    container: { ...container, status: statusOf(container) },
    health: container.health,
    exitCode: container.state === 'exited' ? container.exitCode : null,
    condition: conditionOf(container),
    looping: conditions.isLooping(container.id),
    stopReason: deployment && !isUp(container) ? getStopReason(db, deployment.id) : null,
  }
}

/** In the form of the engine's own phrase, which it gives in its list only. */
function statusOf(container: Container) {
  const { state, exitCode, startedAt, finishedAt, health } = container
  const now = new Date()
  if (state === 'exited') return `Exited (${exitCode}) ${finishedAt ? ago(finishedAt, now) : ''}`
  if (state !== 'running') return state[0]!.toUpperCase() + state.slice(1)
  return `Up since ${startedAt ? ago(startedAt, now) : 'now'}${health ? ` (${health})` : ''}`
}
