import { decimalTop, height, plot } from './plot.ts'
import type { Bounds, Point } from './plot.ts'

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
