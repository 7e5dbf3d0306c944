import { setImmediate as turn } from 'node:timers/promises'
import type { Context } from 'hono'
import { textInPieces } from '../web/text-file.ts'
import { partsOf } from './log-batch.ts'

/** Characters of lines that are rendered before other work may run. */
const atOnce = 32 * 1024

type Line = { text: string }

export const linesAsHtml = <L extends Line>(
  c: Context,
  { lines, html }: { lines: L[]; html: (line: L) => string },
) =>
  textInPieces(c, {
    headers: { 'Content-Type': 'text/html; charset=UTF-8' },
    pieces: rendered(lines, (some) => some.map(html).join('')),
  })

type Places = { previous: number | null; next: number | null }

/** Where to go on after the lines, and before them. */
export const cursorsOf = ({ previous, next }: Places) => ({
  nextCursor: next === null ? null : String(next),
  ...(previous !== null && { previousCursor: String(previous) }),
})

/** A list with the lines as `items`. */
export function linesAsJson<L extends Line>(
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

async function* rendered<L extends Line>(lines: L[], render: (some: L[]) => string) {
  for (const part of partsOf(lines, atOnce)) {
    yield render(part)
    await turn()
  }
}
