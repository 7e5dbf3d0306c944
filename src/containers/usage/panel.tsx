import type { LogDb } from '../../db/index.ts'
import type { Container } from '../../docker/index.ts'
import { containerPath } from '../row.ts'
import { chartsId, StatsCharts } from './charts.tsx'
import { StatsFigures } from './figures.tsx'
import type { UsagePoller } from './poller.ts'
import { readHistory } from './sample-history.ts'
import type { History, Range } from './sample-history.ts'
import { restingState } from './shown.ts'
import type { Measurement, Shown } from './shown.ts'

/** What a container uses and used. */
export type ContainerStats = {
  id: string
  /** Null for one that runs and was not measured yet. */
  shown: Shown | null
  memoryLimit: number | null
  history: History
}

export function statsOf(
  { logDb, usage }: { logDb: LogDb; usage: UsagePoller },
  { id, state }: Pick<Container, 'id' | 'state'>,
  range: Range = 'hour',
): ContainerStats {
  const shown = shownOf(state, usage.latest(id))
  return {
    id,
    shown,
    memoryLimit: shown?.state === 'running' ? shown.usage.memoryLimit : null,
    history: readHistory(logDb, { containerId: id, range }),
  }
}

function shownOf(state: Container['state'], latest: Measurement | null): Shown | null {
  const resting = restingState(state)
  if (resting) return { state: resting, time: new Date() }
  return latest && { state: 'running', ...latest }
}

/** What a container uses now, live, and what it used over time. */
export const StatsPanel = ({ stats }: { stats: ContainerStats }) => (
  <section class="stats" aria-labelledby="stats-heading">
    <h2 id="stats-heading">Usage</h2>
    <div
      id="stats-figures"
      hx-sse:connect={`${containerPath(stats)}/stats`}
      hx-sse:close="done"
      hx-trigger="load"
      hx-swap="innerMorph"
    >
      <StatsFigures shown={stats.shown} />
    </div>
    <StatsHistory stats={stats} />
  </section>
)

/** The charts of a range, and the way to the others. */
export const StatsHistory = ({ stats }: { stats: ContainerStats }) => {
  const { history, memoryLimit } = stats
  return (
    <div id={historyId}>
      <RangeChoice path={usagePath(stats)} range={history.range} target={historyId} />
      <div id={chartsId(history.range)} class="stats-charts">
        <StatsCharts history={history} memoryLimit={memoryLimit} />
      </div>
      {history.range !== 'hour' && (
        <div
          hidden
          hx-get={`${usagePath(stats)}?range=${history.range}`}
          hx-trigger="every 60s"
          hx-target={`#${historyId}`}
          hx-swap="outerMorph"
        />
      )}
    </div>
  )
}

const historyId = 'stats-history'

const names: Record<Range, string> = { hour: 'Last hour', day: '24 hours', week: '7 days' }

const usagePath = (container: { id: string }) => `${containerPath(container)}/usage`

/** The way to the charts of the other ranges, which take the place of those in `target`. */
export const RangeChoice = ({
  path,
  range,
  target,
}: {
  path: string
  range: Range
  target: string
}) => (
  <nav class="stats-ranges" aria-label="Time that the charts show">
    {Object.entries(names).map(([other, name]) => (
      <a
        href={`${path}?range=${other}`}
        aria-current={other === range ? 'true' : undefined}
        hx-get={`${path}?range=${other}`}
        hx-target={`#${target}`}
        hx-swap="outerMorph"
      >
        {name}
      </a>
    ))}
  </nav>
)
