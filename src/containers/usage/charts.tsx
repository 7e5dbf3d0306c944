import { bytes, percent, rate } from '../../web/units.ts'
import { ranges } from './sample-history.ts'
import type { History, Range } from './sample-history.ts'
import type { Sample } from './sample-store.ts'
import { decimalTop, height, memoryTop, plot } from './plot.ts'

/** Where the charts of a range stand on a page. */
export const chartsId = (range: Range) => `usage-charts-${range}`

/** What a container used over a range of time, drawn. */
export const StatsCharts = ({
  history,
  memoryLimit,
}: {
  history: History
  /** Null where it is not known. */
  memoryLimit: number | null
}) => {
  const { samples } = history
  if (samples.length === 0) return <p class="stats-note">{nothing[history.range]}</p>
  const charts = [
    { name: 'CPU', text: percent, least: 1, lines: [{ of: 'cpu' }] },
    { name: 'Memory', text: bytes, least: null, lines: [{ of: 'memory' }] },
    {
      name: 'Network',
      text: rate,
      least: 1000,
      lines: [
        { name: 'in', of: 'received' },
        { name: 'out', of: 'sent' },
      ],
    },
    {
      name: 'Disk',
      text: rate,
      least: 1000,
      lines: [
        { name: 'read', of: 'read' },
        { name: 'write', of: 'written' },
      ],
    },
  ] satisfies (Pick<Props, 'name' | 'text' | 'lines'> & { least: number | null })[]
  return (
    <>
      {charts.map(({ least, ...chart }) => {
        const peak = Math.max(...chart.lines.flatMap(({ of }) => values(history, of)))
        const top = least === null ? memoryTop(peak, memoryLimit) : decimalTop(peak, least)
        return <StatsChart {...{ ...chart, history, top }} />
      })}
    </>
  )
}

const nothing: Record<Range, string> = {
  hour: 'Nothing was measured in the last hour. While it runs, that is done every ten seconds.',
  day: 'Nothing was measured in the last day. Its first minute is drawn when that has passed.',
  week: 'Nothing was measured in the last week. Its first ten minutes are drawn when they have passed.',
}

/** What is measured, and the name of its line where a chart has several. */
type Line = {
  name?: string
  of: Figure
  /** Those of the chart by default. */
  samples?: Sample[]
  /** How it is drawn; by default as the first or second of a chart. */
  class?: string
}
type Figure = Exclude<keyof Sample, 'time'>

type Props = {
  name: string
  history: History
  /** The value at the upper edge. */
  top: number
  text: (value: number) => string
  lines: Line[]
}

/** One chart with its scales; said in words to those who do not see it. */
export const StatsChart = ({ name, history, top, text, lines }: Props) => {
  const { seconds, span } = ranges[history.range]
  const width = seconds / span
  const valuesOf = ({ of, samples = history.samples }: Line) => values({ samples }, of)
  return (
    <figure class="stats-chart">
      <figcaption>
        <strong>{name}</strong>
        {lines.map((line, index) => (
          <span class={classOf('chart-key', line)} data-line={line.name && index}>
            {line.name && <bdi>{line.name}: </bdi>}
            {summary(valuesOf(line), text)}
          </span>
        ))}
      </figcaption>
      <div class="chart-scale" aria-hidden="true">
        <span>{text(top)}</span>
        <span>{text(top / 2)}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
        {/* Without ids: htmx makes an HTML element of what has one where it morphs something else. */}
        <title>{`${name}, ${inWords[history.range]}`}</title>
        <desc>
          {lines
            .map((line) => `${line.name ?? ''} ${words(valuesOf(line), text)}`.trim())
            .join('; ')}
        </desc>
        <path
          class="chart-grid"
          d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`}
        />
        {lines.map((drawn, index) => {
          const { of, samples = history.samples } = drawn
          const { line, area } = plot({ ...history, samples }, { of, top })
          return (
            <>
              {lines.length === 1 && <path class="chart-area" d={area} />}
              <path class={classOf('chart-line', drawn)} data-line={index} d={line} />
            </>
          )
        })}
      </svg>
      <div class="chart-times" aria-hidden="true">
        {times[history.range].map((time) => (
          <span>{time}</span>
        ))}
      </div>
    </figure>
  )
}

const classOf = (name: string, line: Line) => (line.class ? `${name} ${line.class}` : name)

const values = ({ samples }: Pick<History, 'samples'>, of: Figure) =>
  samples.map((sample) => sample[of])

const inWords: Record<Range, string> = {
  hour: 'the last hour',
  day: 'the last 24 hours',
  week: 'the last 7 days',
}

const times: Record<Range, string[]> = {
  hour: ['60 min', '45', '30', '15', 'now'],
  day: ['24 h', '18', '12', '6', 'now'],
  week: ['7 d', '6', '5', '4', '3', '2', '1', 'now'],
}

const summary = (values: number[], text: (value: number) => string) =>
  `average ${text(average(values))}, peak ${text(Math.max(...values))}`

const words = (values: number[], text: (value: number) => string) =>
  `${text(average(values))} on average, ${text(Math.max(...values))} at most`

const average = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
