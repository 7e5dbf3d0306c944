import type { JSX } from 'hono/jsx/jsx-runtime'
import type { LogDb } from '../../db/index.ts'
import type { Container } from '../../docker/index.ts'
import { RangeChoice, Chart } from '../../web/chart.tsx'
import type { Range } from '../../web/plot.ts'
import { containerPath } from '../place.ts'
import { figuresId, StatsFigures } from './figures.tsx'
import type { UsagePoller, UsageNow } from './poller.ts'
import { readHistory, pointsOf } from './sample-history.ts'
import { restingState, usageJson } from './shown.ts'
import type { ContainerStats, Measurement, ShownUsage } from './shown.ts'
import { sseEvent } from '../../web/sse.ts'
import type { Unit } from '../../web/units.ts'
import type { Figure, History } from './sample-history.ts'

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

function shownOf(state: Container['state'], latest: Measurement | null): ShownUsage | null {
  const resting = restingState(state)
  if (resting) return { state: resting, time: new Date() }
  return latest && { state: 'running', ...latest }
}

export const StatsPanel = ({
  stats,
  isCarried = false,
}: {
  stats: ContainerStats
  /** True if the stream of a log on the page also carries the usage. */
  isCarried?: boolean
}) => (
  <section class="stats" aria-labelledby="stats-heading">
    <h2 id="stats-heading">Usage</h2>
    <div id={figuresId}>
      <StatsFigures shown={stats.shown} />
    </div>
    {!isCarried && (
      <div
        hidden
        hx-sse:connect={`${containerPath(stats)}/stats`}
        hx-sse:close="done"
        hx-trigger="load"
        hx-swap="none"
      />
    )}
    <StatsHistory stats={stats} />
  </section>
)

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
          hx-trigger="changed from:body throttle:60s"
          hx-target={`#${historyId}`}
          hx-swap="outerMorph"
        />
      )}
    </div>
  )
}

const historyId = 'stats-history'

const usagePath = (container: { id: string }) => `${containerPath(container)}/usage`

/** Renders an SSE event once for all watchers. */
export function usageEvent(look: UsageNow, as: 'html' | 'json') {
  look.events[as] ??= encode(
    look,
    as === 'html' ? render(look) : JSON.stringify(usageJson(look.shown)),
  )
  return look.events[as]
}

/** On a page that shows another range, the charts match no element and are ignored. */
function render({ shown, history }: UsageNow) {
  const figures = partOf(figuresId, <StatsFigures shown={shown} />)
  if (!history) return figures
  const memoryLimit = shown.state === 'running' ? shown.usage.memoryLimit : null
  const charts = <StatsCharts history={history} memoryLimit={memoryLimit} />
  return figures + partOf(chartsId(history.range), charts)
}

function encode({ shown }: UsageNow, data: string) {
  const end = shown.state === 'removed' ? sseEvent({ event: 'done', data: shown.state }) : ''
  return new TextEncoder().encode(sseEvent({ data }) + end)
}

const partOf = (id: string, content: JSX.Element) =>
  `<hx-partial hx-target="#${id}" hx-swap="innerMorph">${String(content)}</hx-partial>`

const chartsId = (range: Range) => `usage-charts-${range}`

const StatsCharts = ({
  history,
  memoryLimit,
}: {
  history: History
  memoryLimit: number | null
}) => {
  if (history.samples.length === 0) return <p class="stats-note">{nothing[history.range]}</p>
  return (
    <>
      {charts.map(({ lines, ...chart }) => {
        const drawn = lines.map(({ of, ...line }) => ({ ...line, points: pointsOf(history, of) }))
        return <Chart {...chart} bounds={history} limit={memoryLimit} lines={drawn} />
      })}
    </>
  )
}

const charts: {
  name: string
  unit: Unit
  least: number | null
  lines: { name?: string; of: Figure }[]
}[] = [
  { name: 'CPU', unit: 'percent', least: 1, lines: [{ of: 'cpu' }] },
  { name: 'Memory', unit: 'bytes', least: null, lines: [{ of: 'memory' }] },
  {
    name: 'Network',
    unit: 'rate',
    least: 1000,
    lines: [
      { name: 'in', of: 'received' },
      { name: 'out', of: 'sent' },
    ],
  },
  {
    name: 'Disk',
    unit: 'rate',
    least: 1000,
    lines: [
      { name: 'read', of: 'read' },
      { name: 'write', of: 'written' },
    ],
  },
]

const nothing: Record<Range, string> = {
  hour: 'No data in the last hour. A running container is measured every ten seconds.',
  day: 'No data in the last day. The first point appears after a minute.',
  week: 'No data in the last week. The first point appears after ten minutes.',
}
