import type { LogDb } from '../db/index.ts'
import { readBlock, unpack } from './block.ts'
import type { OutputLine } from './block.ts'
import { getBlockAfter, getBlockBefore, getSequenceBefore } from './output-store.ts'
import type { Block } from './output-store.ts'

/** Milliseconds after which a search answers with what it has; its cursor says where it goes on. */
const patience = 2000

/** Characters after which an answer ends; 500 lines, as the viewer asks for, are less in any case. */
const enough = 16 * 1024 * 1024

type After = { sourceId: string; after: number; limit: number }

/** The lines after that sequence, oldest first. */
export function listOutput(logDb: LogDb, { sourceId, after, limit }: After): OutputLine[] {
  const lines: OutputLine[] = []
  for (const block of blocksAfter(logDb, { sourceId, after })) {
    for (const line of readBlock(block))
      if (line.sequence > after && lines.length < limit) lines.push(line)
    if (lines.length >= limit) break
  }
  return lines
}

/** The last lines before that sequence, oldest first; fewer when they are very long. */
export function listOutputBefore(
  logDb: LogDb,
  { sourceId, before, limit }: { sourceId: string; before: number; limit: number },
): OutputLine[] {
  const lines: OutputLine[] = []
  for (let size = 0; lines.length < limit && size < enough;) {
    const block = getBlockBefore(logDb, { sourceId, before: lines.at(-1)?.sequence ?? before })
    if (!block) break
    for (const line of readBlock(block).toReversed()) {
      if (line.sequence >= before || lines.length === limit || size >= enough) continue
      lines.push(line)
      size += line.text.length
    }
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
 * The lines after that sequence that pass the filter. It gives way to other work between blocks, and
 * stops after two seconds, or when the lines are very long: `next` is the sequence to go on after, null
 * when all was looked at.
 */
export async function findOutput(
  logDb: LogDb,
  { sourceId, after, limit, ...filter }: After & OutputFilter,
): Promise<{ lines: OutputLine[]; next: number | null }> {
  const { since, until = Infinity } = filter
  const start = since === undefined ? 0 : getSequenceBefore(logDb, { sourceId, time: since })
  if (start === null) return { lines: [], next: null }
  const passes = passing(filter)
  const end = performance.now() + patience
  const lines: OutputLine[] = []
  let size = 0
  for (const block of blocksAfter(logDb, { sourceId, after: Math.max(after, start) })) {
    if (block.firstTime > until) break
    for (const line of mayContain(block, filter.search) ? readBlock(block) : [])
      if (line.sequence > after && passes(line)) {
        if (lines.length === limit || size >= enough) return { lines, next: lines.at(-1)!.sequence }
        lines.push(line)
        size += line.text.length
      }
    if (performance.now() > end) return { lines, next: block.last }
    await new Promise(setImmediate)
  }
  return { lines, next: null }
}

/** Most blocks of a search need not be taken apart. */
const mayContain = ({ data }: Block, search = '') =>
  search === '' || unpack(data).toLowerCase().includes(search.toLowerCase())

function passing({ search = '', stream, since = -Infinity, until = Infinity }: OutputFilter) {
  const wanted = search.toLowerCase()
  return ({ time, text, ...line }: OutputLine) =>
    time >= since &&
    time <= until &&
    (stream === undefined || line.stream === stream) &&
    text.toLowerCase().includes(wanted)
}

function* blocksAfter(
  logDb: LogDb,
  { sourceId, after }: Pick<After, 'sourceId' | 'after'>,
): Generator<Block> {
  for (let block = getBlockAfter(logDb, { sourceId, after }); block;) {
    yield block
    block = getBlockAfter(logDb, { sourceId, after: block.last })
  }
}
