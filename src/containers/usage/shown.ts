import type { Container, ContainerUsage } from '../../docker/index.ts'

export type Measurement = { usage: ContainerUsage; time: Date }

/** What a container uses, or why nothing can be told of it. */
export type Shown =
  | ({ state: 'running' } & Measurement)
  | { state: 'stopped' | 'restarting' | 'removed' | 'unknown'; time: Date }

/** Of a container that nothing can be measured of; null: it runs. */
export function restingState(state: Container['state']) {
  if (state === 'running' || state === 'paused') return null
  return state === 'restarting' ? state : 'stopped'
}
