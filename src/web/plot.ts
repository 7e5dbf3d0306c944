/** The range of a plot, in seconds since 1970: after `from` up to `until`, at most one point per span. */
export type Bounds = { range: Range; span: number; from: number; until: number }

/** In seconds. */
export const ranges = { hour: 3600, day: 86_400, week: 7 * 86_400 }
export type Range = keyof typeof ranges

/** The value over the span that ended at `time`, in seconds since 1970. */
export type Point = {
  time: number
  value: number
  /** Seconds that were measured, if that differs between points. */
  seconds?: number
}

/** The height of a plot in units; its width is one per possible point. */
export const height = 100

/** Consecutive points that may be missing before the line is broken. */
const bridged = 1

type Coordinates = { x: number; y: number }

type Plot = { line: string; area: string }

/** Draws points, oldest first, as SVG path data, with gaps where nothing was measured. */
export function plot(
  { from, span }: Pick<Bounds, 'from' | 'span'>,
  points: Point[],
  { top }: { top: number },
): Plot {
  const places = points.map(({ time, value }) => ({
    x: Math.round((time - from) / span),
    y: height - Math.round((Math.min(value, top) / top) * height),
  }))
  const runs = unbroken(places)
  return { line: runs.map(drawLine).join(''), area: runs.map(drawArea).join('') }
}

function unbroken(places: Coordinates[]) {
  const runs: Coordinates[][] = []
  let last: Coordinates | undefined
  for (const place of places) {
    if (last && place.x - last.x <= bridged + 1) runs.at(-1)!.push(place)
    else runs.push([place])
    last = place
  }
  return runs
}

const drawLine = (run: Coordinates[]) => `M${run[0]!.x} ${run[0]!.y}${steps(run) || 'h0'}`

const drawArea = (run: Coordinates[]) =>
  `M${run[0]!.x} ${height}V${run[0]!.y}${steps(run)}V${height}Z`

/** Relative coordinates, and a flat stretch in one step: charts are sent often. */
function steps(run: Coordinates[]) {
  let path = ''
  let level = 0
  run.forEach(({ x, y }, index) => {
    if (index === 0) return
    const before = run[index - 1]!
    if (y === before.y) return void (level += x - before.x)
    if (level > 0) path += `h${level}`
    level = 0
    path += `l${x - before.x}${y > before.y ? ' ' : ''}${y - before.y}`
  })
  return level > 0 ? `${path}h${level}` : path
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that reaches the peak. */
export function decimalTop(peak: number, least: number) {
  let power = 10 ** Math.floor(Math.log10(Math.max(peak, least)))
  for (; ; power *= 10)
    for (const step of [1, 2, 5]) if (step * power >= Math.max(peak, least)) return step * power
}

/** The smallest power of two that reaches the peak; the limit when that is close. */
export function memoryTop(peak: number, limit: number | null) {
  if (limit && peak * 2 >= limit) return Math.max(limit, peak)
  return 2 ** Math.ceil(Math.log2(Math.max(peak, 2 ** 20)))
}
