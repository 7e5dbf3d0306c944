import { setImmediate as turn } from 'node:timers/promises'
import type { Context } from 'hono'
import { textInPieces } from '../web/text-file.ts'
import { partsOf } from './log-batch.ts'
import { lineHtml } from './log-line.tsx'
import type { Line } from './log-line.tsx'

/** Characters of lines that are rendered before other work may run. */
const atOnce = 32 * 1024

export const linesAsHtml = (c: Context, lines: Line[]) =>
  textInPieces(c, {
    headers: { 'Content-Type': 'text/html; charset=UTF-8' },
    pieces: rendered(lines, (some) => some.map(lineHtml).join('')),
  })

type Places = { previous: number | null; next: number | null }

/** Where to go on after the lines, and before them. */
export const cursorsOf = ({ previous, next }: Places) => ({
  nextCursor: next === null ? null : String(next),
  ...(previous !== null && { previousCursor: String(previous) }),
})

/** A list with the lines as `items`. */
export function linesAsJson<L extends { text: string }>(
  c: Context,
  { lines, json, ...rest }: { lines: L[]; json: (line: L) => unknown } & Record<string, unknown>,
) {
  const others = JSON.stringify(rest).slice(1)
  return textInPieces(c, {
    headers: { 'Content-Type': 'application/json' },
    pieces: list(),
  })

  async function* list() {
    yield '{"items":['
    let isFirst = true
    for await (const items of rendered(lines, (some) => JSON.stringify(some.map(json)))) {
      yield (isFirst ? '' : ',') + items.slice(1, -1)
      isFirst = false
    }
    yield others === '}' ? ']}' : `],${others}`
  }
}

async function* rendered<L extends { text: string }>(lines: L[], render: (some: L[]) => string) {
  for (const part of partsOf(lines, atOnce)) {
    yield render(part)
    await turn()
  }
}
