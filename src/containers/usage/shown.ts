import type { Container, ContainerUsage } from '../../docker/index.ts'
import type { History } from './sample-history.ts'

export type Measurement = { usage: ContainerUsage; time: Date }

export type ShownUsage =
  | ({ state: 'running' } & Measurement)
  | { state: 'stopped' | 'restarting' | 'removed' | 'unknown'; time: Date }

export type ContainerStats = {
  id: string
  /** Null for a running container that wasn't measured yet. */
  shown: ShownUsage | null
  history: History
}

/** Null when it runs; otherwise the state in which nothing can be measured. */
export function restingState(state: Container['state']) {
  if (state === 'running' || state === 'paused') return null
  return state === 'restarting' ? state : 'stopped'
}

/** In bytes, bytes per second, and per cent of one processor. */
export const usageJson = (shown: ShownUsage) => ({
  state: shown.state,
  time: shown.time.toISOString(),
  ...(shown.state === 'running' && shown.usage),
})

export const statsJson = ({ shown, history }: ContainerStats) => ({
  range: history.range,
  span: history.span,
  samples: samplesJson(history),
  now: shown && usageJson(shown),
})

export const samplesJson = ({ samples }: Pick<History, 'samples'>) =>
  samples.map((sample) => ({ ...sample, time: new Date(sample.time * 1000).toISOString() }))
