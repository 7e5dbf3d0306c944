import type { FaultReport } from '../faults/report.ts'
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

/** What was promised, and how often the promise was broken. */
export const faultTable = (reports: FaultReport[]) =>
  table(
    ['what', 'came of it', 'measured'],
    reports.map(({ what, unit, rounds, bad, figures }) => [
      what,
      `${bad} of ${rounds} ${unit}`,
      figures,
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
