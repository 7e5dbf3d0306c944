import type { LogDb } from '../db/index.ts'
import { readBlock, unpack } from './block.ts'
import type { OutputLine } from './block.ts'
import type { Masks } from './masks.ts'
import { getBlockAfter, getBlockBefore, getSequenceBefore } from './output-store.ts'
import type { Block } from './output-store.ts'
import { Pace } from '../web/pace.ts'
import { ShownLines } from './shown-lines.ts'

/** Milliseconds after which a search answers with what it has; its cursor says where it goes on. */
const patience = 2000

/** Characters after which an answer ends: its cursor says where the next one goes on. */
const usualLength = 2 ** 20

type Reading = { logDb: LogDb; masks: Masks }
type Wanted = {
  sourceId: string
  limit: number
  /** Characters after which there are no more lines. */
  maxLength?: number | undefined
}

/** The lines after that sequence as they were stored, oldest first. */
export function listOutput(
  logDb: LogDb,
  { sourceId, after, limit, maxLength = usualLength }: Wanted & { after: number },
): OutputLine[] {
  const lines: OutputLine[] = []
  let size = 0
  for (const block of blocksAfter(logDb, { sourceId, after }))
    for (const line of readBlock(block)) {
      if (line.sequence <= after) continue
      if (lines.length === limit || size >= maxLength) return lines
      lines.push(line)
      size += line.text.length
    }
  return lines
}

/** The last lines before that sequence, oldest first; fewer when they are very long. */
export async function listOutputBefore(
  { logDb, masks }: Reading,
  { sourceId, before, limit, maxLength = usualLength }: Wanted & { before: number },
): Promise<OutputLine[]> {
  const mask = await masks.of(sourceId)
  const pace = new Pace()
  const lines: OutputLine[] = []
  for (let size = 0; lines.length < limit && size < maxLength;) {
    const block = getBlockBefore(logDb, { sourceId, before: lines.at(-1)?.sequence ?? before })
    if (!block) break
    for (const line of readBlock(block).toReversed()) {
      if (line.sequence >= before || lines.length === limit || size >= maxLength) continue
      lines.push(line)
      size += line.text.length
    }
    await pace.step()
  }
  const shown = new ShownLines(mask)
  for (let at = lines.length - 1; at >= 0; at--) {
    lines[at] = shown.of(lines[at]!)
    if (pace.isOver) await pace.step()
  }
  return lines.reverse()
}

type OutputFilter = {
  /** A text, whatever the case of its letters. */
  search?: string | undefined
  stream?: OutputLine['stream'] | undefined
  /** Milliseconds since 1970, both inclusive. */
  since?: number | undefined
  until?: number | undefined
}

/**
 * The lines after that sequence that, as they may be shown now, pass the filter. It gives way to other
 * work, and stops after two seconds, or when the lines are very long: `next` is the sequence to go on
 * after, null when all was looked at.
 */
export async function findOutput(
  { logDb, masks }: Reading,
  {
    sourceId,
    after,
    limit,
    maxLength = usualLength,
    ...filter
  }: Wanted & { after: number } & OutputFilter,
): Promise<{ lines: OutputLine[]; next: number | null }> {
  const { since, until = Infinity } = filter
  const start = since === undefined ? 0 : getSequenceBefore(logDb, { sourceId, time: since })
  if (start === null) return { lines: [], next: null }
  const passes = passing(filter)
  const shown = new ShownLines(await masks.of(sourceId))
  const end = performance.now() + patience
  const pace = new Pace()
  const lines: OutputLine[] = []
  let size = 0
  // from the line before on: where that is a piece of a long one, it tells what of the next one is hidden
  for (const block of blocksAfter(logDb, { sourceId, after: Math.max(after, start) - 1 })) {
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
      if (!pace.isOver) continue
      if (performance.now() > end) return { lines, next: line.sequence }
      await pace.step()
    }
    await pace.step()
    if (performance.now() > end) return { lines, next: Math.max(block.last, after) }
  }
  return { lines, next: null }
}

/** Most blocks of a search need not be taken apart; what is hidden appears in none of them. */
const mayContain = ({ data }: Block, search = '') =>
  search === '' || search.includes('*') || unpack(data).toLowerCase().includes(search.toLowerCase())

function passing({ search = '', stream, since = -Infinity, until = Infinity }: OutputFilter) {
  const wanted = search.toLowerCase()
  return ({ time, text, ...line }: OutputLine) =>
    time >= since &&
    time <= until &&
    (stream === undefined || line.stream === stream) &&
    (wanted === '' || text.toLowerCase().includes(wanted))
}

function* blocksAfter(
  logDb: LogDb,
  { sourceId, after }: { sourceId: string; after: number },
): Generator<Block> {
  for (let block = getBlockAfter(logDb, { sourceId, after }); block;) {
    yield block
    block = getBlockAfter(logDb, { sourceId, after: block.last })
  }
}
