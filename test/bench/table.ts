import type { Cost } from './exhaustion/exhaustion.ts'
import type { BuildCost } from './detection.ts'
import { summarize } from './ratio.ts'
import type { Row } from './ratio.ts'

/** Medians, with the least and the most of the ratios. */
export function ratioTable(rows: Row[]) {
  const head = ['what', 'against', 'Davit', 'floor', 'ratio (min – max)', 'aim', 'best peer']
  return table(head, rows.map(ratioCells))
}

function ratioCells(row: Row) {
  const { davit, floor, ratio } = summarize(row)
  const span = `${short(ratio.min)} – ${short(ratio.max)}`
  return [
    row.what,
    row.against,
    `${short(davit.median)} ${row.unit}`,
    `${short(floor.median)} ${row.unit}`,
    `${short(ratio.median)} (${span})`,
    row.aim,
    row.peer ?? '–',
  ]
}

/** Whether it is within its limits, and what was measured. */
export const costTable = (costs: Cost[]) =>
  table(
    ['what', 'within its limits', 'measured'],
    costs.map(({ what, isWithin, figures }) => [what, isWithin ? 'yes' : 'no', figures]),
  )

/** Ours, and in brackets how many times that is of what a person's takes; medians. */
export const buildTable = (builds: BuildCost[]) =>
  table(
    [
      'kind',
      'app',
      'recognised from',
      'size, MB (≤ 1.1)',
      'cold, s',
      'warm, s (≤ 1.0)',
      'responded',
    ],
    builds.map(({ kind, app, from, size, cold, warm }) => [
      ...[kind, app, from],
      ...[size, cold, warm].map(({ davit, hand }) => {
        const sides = summarize({ davit, floor: hand })
        return `${short(sides.davit.median)} (${sides.ratio.median.toFixed(2)})`
      }),
      // One that doesn't has no row.
      'yes',
    ]),
  )

const table = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(escape).join(' | ')} |\n`)
    .join('')

const escape = (cell: string) => cell.replaceAll('|', '\\|')

/** Three digits that count. */
const short = (value: number) =>
  value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)
