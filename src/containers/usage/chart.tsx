import { height, plot } from './plot.ts'
import type { History, Range } from './sample-history.ts'
import { ranges } from './sample-history.ts'
import type { Sample } from './sample-store.ts'

type Line = { name?: string; valueOf: (sample: Sample) => number }

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
  return (
    <figure class="stats-chart">
      <figcaption>
        <strong>{name}</strong>
        {lines.map(({ name, valueOf }, index) => (
          <span class="chart-key" data-line={name && index}>
            {name && `${name}: `}
            {summary(history.samples.map(valueOf), text)}
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
            .map(({ name = '', valueOf }) =>
              `${name} ${words(history.samples.map(valueOf), text)}`.trim(),
            )
            .join('; ')}
        </desc>
        <path
          class="chart-grid"
          d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`}
        />
        {lines.map(({ valueOf }, index) => {
          const { line, area } = plot(history, { valueOf, top })
          return (
            <>
              {lines.length === 1 && <path class="chart-area" d={area} />}
              <path class="chart-line" data-line={index} d={line} />
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
