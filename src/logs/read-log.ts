import type { LogDb } from '../db/index.ts'
import { isTurnOver, pause } from '../platform/pause.ts'
import { packed, readBlock, unpack } from './block.ts'
import type { Line } from './log-line.tsx'
import type { Masks } from './masks.ts'
import { ShownLines } from './shown-lines.ts'
import { getBlockAfter, getBlockBefore, getSequenceBefore } from './store.ts'
import type { Block, LogKey } from './store.ts'

/** Milliseconds after which a search answers with what it has; its cursor says where it goes on. */
const patience = 2000

/** Characters after which an answer ends: its cursor says where the next one goes on. */
const usualLength = 2 ** 20

/** What a download reads at a time. */
const chunk = { limit: 5000, maxLength: 256 * 1024 }

type Reading = { logDb: LogDb; masks: Masks }
type Wanted = {
  limit: number
  /** Characters after which there are no more lines. */
  maxLength?: number | undefined
}

/** What a line has to be to be wanted; what is left out doesn't matter. */
export type LogFilter = {
  /** A text, whatever the case of its letters. */
  search?: string | undefined
  stream?: Line['stream'] | undefined
  /** Milliseconds since 1970, both inclusive. */
  since?: number | undefined
  until?: number | undefined
  /** The name of a container. */
  container?: string | undefined
}

/** The last lines, before that sequence if one is given, oldest first; fewer when they are very long. */
export async function listLastLines(
  { logDb, masks }: Reading,
  log: LogKey,
  { before = Infinity, limit, maxLength = usualLength }: Wanted & { before?: number },
): Promise<Line[]> {
  const mask = await masks.of(log.sourceId)
  const lines: Line[] = []
  for (let size = 0; lines.length < limit && size < maxLength;) {
    const block = getBlockBefore(logDb, { ...log, before: lines.at(-1)?.sequence ?? before })
    if (!block) break
    for (const line of readBlock(block).toReversed()) {
      if (line.sequence >= before || lines.length === limit || size >= maxLength) continue
      lines.push(line)
      size += line.text.length
    }
    await pause()
  }
  const shown = new ShownLines(mask)
  for (let at = lines.length - 1; at >= 0; at--) {
    lines[at] = shown.of(lines[at]!)
    if (isTurnOver()) await pause()
  }
  return lines.reverse()
}

/**
 * The lines after that sequence that, as they may be shown now, pass the filter. It gives way to other
 * work, and stops after two seconds, or when the lines are very long: `next` is the sequence to go on
 * after, null when all was looked at.
 */
export async function findLines(
  { logDb, masks }: Reading,
  log: LogKey,
  { after, limit, maxLength = usualLength, ...filter }: Wanted & LogFilter & { after: number },
): Promise<{ lines: Line[]; next: number | null }> {
  const { since, until = Infinity } = filter
  const start = since === undefined ? 0 : getSequenceBefore(logDb, { ...log, time: since })
  if (start === null) return { lines: [], next: null }
  const passes = passing(filter)
  const shown = new ShownLines(await masks.of(log.sourceId))
  const end = performance.now() + patience
  const lines: Line[] = []
  let size = 0
  // from the line before on: where that is a piece of a long one, it tells what of the next one is hidden
  for (const block of blocksAfter(logDb, log, Math.max(after, start) - 1)) {
    if (block.firstTime > until) break
    for (const stored of mayContain(block, filter.search) ? readBlock(block) : []) {
      if (stored.sequence < after) continue
      const line = shown.of(stored)
      if (line.sequence > after && passes(line)) {
        if (lines.length === limit || size >= maxLength)
          return { lines, next: lines.at(-1)!.sequence }
        lines.push(line)
        size += line.text.length
      }
      if (!isTurnOver()) continue
      if (performance.now() > end) return { lines, next: line.sequence }
      await pause()
    }
    await pause()
    if (performance.now() > end) return { lines, next: Math.max(block.last, after) }
  }
  return { lines, next: null }
}

/** How many lines of the whole log contain the text; null when that can't be told in some seconds. */
export async function countLines(deps: Reading, log: LogKey, search: string) {
  const end = performance.now() + patience
  let count = 0
  for await (const lines of eachLines(deps, log, { search, after: 0 })) {
    count += lines.length
    if (performance.now() > end) return null
  }
  return count
}

/** The lines after that sequence that pass the filter, however many, some at a time. */
export async function* eachLines(
  deps: Reading,
  log: LogKey,
  { after, ...filter }: LogFilter & { after: number },
) {
  for (let next: number | null = after; next !== null;) {
    const found: Awaited<ReturnType<typeof findLines>> = await findLines(deps, log, {
      ...filter,
      after: next,
      ...chunk,
    })
    next = found.next
    if (found.lines.length > 0) yield found.lines
  }
}

/** Most blocks of a search need not be taken apart; what is hidden appears in none of them. */
const mayContain = ({ data }: Block, search = '') =>
  search === '' ||
  search.includes('*') ||
  unpack(data).toLowerCase().includes(packed(search).toLowerCase())

/** Whether a line, as it may be shown, is wanted. */
export function passing({
  search = '',
  stream,
  container,
  since = -Infinity,
  until = Infinity,
}: LogFilter) {
  const wanted = search.toLowerCase()
  return ({ time, text, ...line }: Line) =>
    time >= since &&
    time <= until &&
    (stream === undefined || line.stream === stream) &&
    (container === undefined || line.container === container) &&
    (wanted === '' || text.toLowerCase().includes(wanted))
}

/** The blocks with lines after that sequence, oldest first. */
export function* blocksAfter(logDb: LogDb, log: LogKey, after: number): Generator<Block> {
  for (let block = getBlockAfter(logDb, { ...log, after }); block;) {
    yield block
    block = getBlockAfter(logDb, { ...log, after: block.last })
  }
}
