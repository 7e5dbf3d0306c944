import type { ContainerStats } from './panel.tsx'
import type { Shown } from './shown.ts'

/** What a container uses, as programs see it: bytes, bytes a second, per cent of one processor. */
export const usageJson = (shown: Shown) => ({
  state: shown.state,
  time: shown.time.toISOString(),
  ...(shown.state === 'running' && shown.usage),
})

export const statsJson = ({ shown, history: { range, span, samples } }: ContainerStats) => ({
  range,
  span,
  samples: samples.map((sample) => ({
    ...sample,
    time: new Date(sample.time * 1000).toISOString(),
  })),
  now: shown && usageJson(shown),
})
