import type { Child } from 'hono/jsx'
import { z } from 'zod'
import { height, memoryTop, plot, ranges, decimalTop } from './plot.ts'
import type { Bounds, Point, Range } from './plot.ts'
import { units } from './units.ts'
import type { Unit } from './units.ts'

export const rangeQuery = z.object({
  range: z.enum(Object.keys(ranges) as Range[], 'must be hour, day or week.').default('hour'),
})

/** One value of a chart over time. */
type Line = {
  /** Only if a chart has several. */
  name?: string | undefined
  points: Point[]
  /** By default that of the first or second line of a chart. */
  class?: string
}

/** Has its scales as text too. assets/chart.js draws it once it is visible, with the value at each time. */
export const Chart = ({
  name,
  bounds,
  unit,
  least,
  limit = null,
  lines,
}: {
  name: string
  bounds: Bounds
  unit: Unit
  /** The minimum top of the scale; null uses powers of two, or the limit. */
  least: number | null
  limit?: number | null
  lines: Line[]
}) => {
  const { range, span, from, until } = bounds
  const peak = Math.max(0, ...lines.map(({ points }) => peakOf(points)))
  const top = least === null ? memoryTop(peak, limit) : decimalTop(peak, least)
  const text = units[unit]
  const width = (until - from) / span
  return (
    <figure class="stats-chart">
      <figcaption>
        <strong>{name}</strong>
        {lines.map((line, index) => (
          <span class={classOf('chart-key', line)} data-line={line.name && index}>
            {line.name && <bdi>{line.name}: </bdi>}
            {summary(line, text)}
          </span>
        ))}
      </figcaption>
      <davit-chart data-values={valuesOf(bounds, { unit, top, lines })}>
        <div class="chart-scale" aria-hidden="true">
          <span>{text(top)}</span>
          <span>{text(top / 2)}</span>
          <span>0</span>
        </div>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
          {/* Without ids: htmx replaces an SVG element with an id by an HTML element when it morphs. */}
          <title>{`${name}, ${inWords[range]}`}</title>
          <desc>
            {lines.map((line) => `${line.name ?? ''} ${words(line, text)}`.trim()).join('; ')}
          </desc>
          <path
            class="chart-grid"
            d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`}
          />
          {lines.map((drawn, index) => {
            const { line, area } = plot(bounds, drawn.points, { top })
            return (
              <>
                {lines.length === 1 && <path class={classOf('chart-area', drawn)} d={area} />}
                <path class={classOf('chart-line', drawn)} data-line={index} d={line} />
              </>
            )
          })}
        </svg>
        <div class="chart-times" aria-hidden="true">
          {times[range].map((time) => (
            <span>{time}</span>
          ))}
        </div>
      </davit-chart>
    </figure>
  )
}

/** One of the values above the charts. */
export const Figure = ({
  name,
  value,
  note,
  children,
  ...attributes
}: {
  name: Child
  value: string
  note?: Child
  children?: Child
  class?: string
}) => (
  <div>
    <dt {...attributes}>{name}</dt>
    <dd>
      <strong>{value}</strong> {note && <span class="muted">{note}</span>}
      {children}
    </dd>
  </div>
)

/** The data for assets/chart.js: a value for each span from `from` on, null where nothing was measured. */
function valuesOf(
  { from, until, span }: Bounds,
  { unit, top, lines }: { unit: Unit; top: number; lines: Line[] },
) {
  const slots = Math.round((until - from) / span)
  const values = lines.map(({ points }) => {
    const row = Array<number | null>(slots).fill(null)
    for (const { time, value } of points) {
      const at = Math.round((time - from) / span) - 1
      if (at in row) row[at] = Number(value.toPrecision(3))
    }
    return row
  })
  return JSON.stringify({ from, until, span, unit, top, names: lines.map(nameOf), values })
}

const nameOf = ({ name }: Line) => name ?? ''

const classOf = (name: string, line: Line) => (line.class ? `${name} ${line.class}` : name)

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

type Text = (value: number) => string

const summary = ({ points }: Line, text: Text) =>
  points.length > 0 ? `average ${text(average(points))}, peak ${text(peakOf(points))}` : '–'

const words = ({ points }: Line, text: Text) =>
  points.length > 0
    ? `${text(average(points))} on average, ${text(peakOf(points))} at most`
    : 'without values'

/** Over the measured time: a minute that has just begun doesn't count as a whole one. */
function average(points: Point[]) {
  let [sum, measured] = [0, 0]
  for (const { value, seconds = 1 } of points) {
    sum += value * seconds
    measured += seconds
  }
  return sum / measured
}

/** 0 without any points. */
const peakOf = (points: Point[]) => points.reduce((peak, { value }) => Math.max(peak, value), 0)

/** Seconds after which the charts of a range are refreshed. */
export const refreshEvery: Record<Range, number> = { hour: 10, day: 60, week: 60 }

const names: Record<Range, string> = { hour: 'Last hour', day: '24 hours', week: '7 days' }

/** Links to the charts of the other ranges, which replace those in `target`. */
export const RangeChoice = ({
  path,
  query = {},
  range,
  target,
}: {
  path: string
  /** Further query parameters. */
  query?: Record<string, string | undefined>
  range: Range
  /** The id of the element to replace; by default the links open the page. */
  target?: string
}) => (
  <nav class="stats-ranges" aria-label="Time range">
    {Object.entries(names).map(([other, name]) => {
      const known = Object.entries({ range: other, ...query }).filter(([, value]) => value)
      const place = `${path}?${new URLSearchParams(known as [string, string][])}`
      return (
        <a
          href={place}
          aria-current={other === range ? 'true' : undefined}
          {...(target && {
            'hx-get': place,
            'hx-target': `#${target}`,
            'hx-swap': 'outerMorph',
          })}
        >
          {name}
        </a>
      )
    })}
  </nav>
)

type Props = {
  /** For screen readers: “CPU in the last hour, now 4 %”. */
  label: string
  points: Point[]
  /** The range of its width. */
  bounds: Pick<Bounds, 'from' | 'until' | 'span'>
  /** The value at the upper edge; by default the next round one above the peak. */
  top?: number
}

/** A chart as high as a row, rendered by the server; nothing without measurements. */
export const Sparkline = ({ label, points, bounds, top }: Props) => {
  if (points.length === 0) return null
  const peak = Math.max(...points.map(({ value }) => value))
  const { line, area } = plot(bounds, points, { top: top ?? decimalTop(peak, 1e-9) })
  const width = (bounds.until - bounds.from) / bounds.span
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path class="chart-area" d={area} />
      <path class="chart-line" d={line} />
    </svg>
  )
}
