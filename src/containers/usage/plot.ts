import type { History } from './sample-history.ts'
import type { Sample } from './sample-store.ts'

/** Units of a plot's height; its width is one for each sample that there could be. */
export const height = 100

/** Samples that may be missing in a row before the line is broken. */
const bridged = 1

type Point = { x: number; y: number }

type Plot = { line: string; area: string }

/** Draws one value of a history, as the data of SVG paths; nothing where nothing was measured. */
export function plot(
  { from, span, samples }: History,
  { of, top }: { of: keyof Sample; top: number },
): Plot {
  const points = samples.map((sample) => ({
    x: Math.round((sample.time - from) / span),
    y: height - Math.round((Math.min(sample[of], top) / top) * height),
  }))
  const runs = unbroken(points)
  return { line: runs.map(drawLine).join(''), area: runs.map(drawArea).join('') }
}

function unbroken(points: Point[]) {
  const runs: Point[][] = []
  let last: Point | undefined
  for (const point of points) {
    if (last && point.x - last.x <= bridged + 1) runs.at(-1)!.push(point)
    else runs.push([point])
    last = point
  }
  return runs
}

const drawLine = (run: Point[]) => `M${run[0]!.x} ${run[0]!.y}${steps(run) || 'h0'}`

const drawArea = (run: Point[]) => `M${run[0]!.x} ${height}V${run[0]!.y}${steps(run)}V${height}Z`

/** Relative, and a level stretch in one step: the charts of a thousand viewers are sent often. */
function steps(run: Point[]) {
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

/** The least of 1, 2, 5, 10, 20, 50 … that reaches the peak. */
export function decimalTop(peak: number, least: number) {
  let power = 10 ** Math.floor(Math.log10(Math.max(peak, least)))
  for (; ; power *= 10)
    for (const step of [1, 2, 5]) if (step * power >= Math.max(peak, least)) return step * power
}

/** The least power of two that reaches the peak; the limit when that is not far. */
export function memoryTop(peak: number, limit: number | null) {
  if (limit && peak * 2 >= limit) return Math.max(limit, peak)
  return 2 ** Math.ceil(Math.log2(Math.max(peak, 2 ** 20)))
}
