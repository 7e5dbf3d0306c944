import { Chart, peakOf } from '../../web/chart.tsx'
import { decimalTop, memoryTop } from '../../web/plot.ts'
import type { Range } from '../../web/plot.ts'
import type { Unit } from '../../web/units.ts'
import { pointsOf } from './sample-history.ts'
import type { Figure, History } from './sample-history.ts'

export const chartsId = (range: Range) => `usage-charts-${range}`

export const StatsCharts = ({
  history,
  memoryLimit,
}: {
  history: History
  /** Null when unknown. */
  memoryLimit: number | null
}) => {
  if (history.samples.length === 0) return <p class="stats-note">{nothing[history.range]}</p>
  return (
    <>
      {charts.map(({ least, lines, ...chart }) => {
        const drawn = lines.map(({ of, ...line }) => ({ ...line, points: pointsOf(history, of) }))
        const peak = Math.max(...drawn.map(({ points }) => peakOf(points)))
        const top = least === null ? memoryTop(peak, memoryLimit) : decimalTop(peak, least)
        return <Chart {...{ ...chart, bounds: history, lines: drawn, top }} />
      })}
    </>
  )
}

const charts: {
  name: string
  unit: Unit
  /** The minimum top of the scale; null uses powers of two, or the limit. */
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
