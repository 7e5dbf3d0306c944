import { decimalTop, height, plot } from './plot.ts'
import type { Bounds, Point } from './plot.ts'

type Props = {
  /** What it shows, to those who do not see it: “CPU in the last hour, now 4 %”. */
  label: string
  points: Point[]
  /** What the width stands for. */
  bounds: Pick<Bounds, 'from' | 'until' | 'span'>
  /** The value at the upper edge; by default the next round one above the peak. */
  top?: number
}

/** A line as high as a row, drawn by the server; nothing where nothing was measured. */
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
