import type { JSX } from 'hono/jsx/jsx-runtime'
import type { LogDb } from '../../db/index.ts'
import type { Container, ContainerUsage } from '../../docker/index.ts'
import { RangeChoice, Chart, Figure } from '../../web/chart.tsx'
import type { Range } from '../../web/plot.ts'
import { containerPath } from '../place.ts'
import type { UsagePoller, UsageNow } from './poller.ts'
import { readHistory, pointsOf } from './sample-history.ts'
import { restingState, usageJson } from './shown.ts'
import type { ContainerStats, Measurement, ShownUsage } from './shown.ts'
import { sseEvent } from '../../web/sse.ts'
import { bytes, percent, rate } from '../../web/units.ts'
import type { Unit } from '../../web/units.ts'
import type { Figure as Drawn } from './sample-history.ts'

export function statsOf(
  { logDb, usage }: { logDb: LogDb; usage: UsagePoller },
  { id, state }: Pick<Container, 'id' | 'state'>,
  range: Range = 'hour',
): ContainerStats {
  const history = readHistory(logDb, { containerId: id, range })
  return { id, shown: shownOf(state, usage.latest(id)), history }
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
  const { history, shown } = stats
  return (
    <div id={historyId}>
      <RangeChoice path={usagePath(stats)} range={history.range} target={historyId} />
      <div id={chartsId(history.range)} class="stats-charts">
        <StatsCharts history={history} shown={shown} />
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

const StatsFigures = ({ shown }: { shown: ShownUsage | null }) => {
  if (!shown) return <p class="stats-note">Measuring…</p>
  if (shown.state !== 'running') return <p class="stats-note">{notes[shown.state]}</p>
  return <Figures usage={shown.usage} />
}

const notes = {
  stopped: 'Stopped. It uses nothing until it starts again.',
  restarting: 'Restarting. Docker waits a moment before it starts it again.',
  removed: 'This container was removed.',
  unknown: 'Docker doesn’t respond. The figures continue when it does.',
}

const Figures = ({ usage }: { usage: ContainerUsage }) => {
  const { cpu, memory, memoryLimit, received, sent, read, written, rates, pids } = usage
  return (
    <dl class="stats-figures">
      <Figure name="CPU" value={percent(cpu)} note="of one processor" />
      <Figure
        name="Memory"
        value={bytes(memory)}
        note={memoryLimit > 0 && `of ${bytes(memoryLimit)}`}
      >
        {memoryLimit > 0 && (
          <meter min="0" max={memoryLimit} high={memoryLimit * 0.9} value={memory}>
            {percent((memory / memoryLimit) * 100)}
          </meter>
        )}
      </Figure>
      <Figure name="Network in" value={rate(rates.received)} note={`${bytes(received)} in total`} />
      <Figure name="Network out" value={rate(rates.sent)} note={`${bytes(sent)} in total`} />
      <Figure name="Disk read" value={rate(rates.read)} note={`${bytes(read)} in total`} />
      <Figure name="Disk write" value={rate(rates.written)} note={`${bytes(written)} in total`} />
      <Figure name="Processes" value={String(pids)} />
    </dl>
  )
}

const figuresId = 'stats-figures'
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
  const charts = <StatsCharts history={history} shown={shown} />
  return figures + partOf(chartsId(history.range), charts)
}

function encode({ shown }: UsageNow, data: string) {
  const end = shown.state === 'removed' ? sseEvent({ event: 'done', data: shown.state }) : ''
  return new TextEncoder().encode(sseEvent({ data }) + end)
}

const partOf = (id: string, content: JSX.Element) =>
  `<hx-partial hx-target="#${id}" hx-swap="innerMorph">${String(content)}</hx-partial>`

const chartsId = (range: Range) => `usage-charts-${range}`

const StatsCharts = ({ history, shown }: Pick<ContainerStats, 'history' | 'shown'>) => {
  if (history.samples.length === 0) return <p class="stats-note">{nothing[history.range]}</p>
  const memoryLimit = shown?.state === 'running' ? shown.usage.memoryLimit : null
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
  lines: { name?: string; of: Drawn }[]
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
