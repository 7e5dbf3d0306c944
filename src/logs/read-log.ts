import type { LogDb } from '../db/index.ts'
import { isTurnOver, pause } from '../platform/pause.ts'
import { packed, readBlock, unpack } from './block.ts'
import type { OutputQuery, ShownQuery } from './forms.ts'
import { atLevels, leadingLines } from './line-levels.ts'
import { processLabel } from './log-line.tsx'
import type { Line } from './log-line.tsx'
import { noMask } from './mask.ts'
import type { Masks } from './masks.ts'
import { ShownLines } from './shown-lines.ts'
import { getBlockAfter, getBlockBefore, getExtent, getSequenceBefore } from './store.ts'
import type { Block, LogKey } from './store.ts'

/** In milliseconds, after which a search returns what it found; its cursor continues. */
const timeoutMs = 2000

/** In characters, after which a response ends; its cursor continues. */
const usualLength = 2 ** 20

/** Lines that are read at a time to find the last ones that pass a filter. */
const page = { limit: 1000, maxLength: 256 * 1024 }
const levelPage = { limit: 1000 + leadingLines, maxLength: 2 * page.maxLength }

export type Reading = { logDb: LogDb; masks: Masks }
type ReadOptions = {
  limit: number
  /** In characters, after which no more lines are returned. */
  maxLength?: number | undefined
}

/** Conditions for lines; undefined ones match everything. */
export type LogFilter = Pick<
  OutputQuery,
  'search' | 'stream' | 'since' | 'until' | 'process' | 'level'
> & {
  /** The name of a container. */
  container?: string | undefined
  deploymentId?: string | undefined
}

/** Oldest first. Returns fewer lines when they are very long, or take long to find. */
export const listLastLines = async (
  deps: Reading,
  log: LogKey,
  wanted: ReadOptions & LogFilter & { before?: number | undefined },
): Promise<Line[]> => (wanted.limit === 0 ? [] : (await findLastLines(deps, log, wanted)).lines)

/** The lines in a page itself; its viewer requests the rest. */
export const tail = { limit: 100, maxLength: 64 * 1024 }

export type LastLines = Awaited<ReturnType<typeof lastLinesOf>>

/** The last lines of a log for its page, those before a line, or those that match a search. */
export const lastLinesOf = async (deps: Reading, log: LogKey, chosen: ShownQuery) => ({
  ...{ chosen, extent: getExtent(deps.logDb, log) },
  ...(await findLastLines(deps, log, { ...tail, ...chosen })),
})

/**
 * Like `listLastLines`, optionally before a sequence number. `previous` is where to continue; null when the
 * log's start was reached.
 */
export async function findLastLines(
  deps: Reading,
  log: LogKey,
  {
    before = Infinity,
    limit,
    maxLength = usualLength,
    ...filter
  }: ReadOptions & LogFilter & { before?: number | undefined },
): Promise<{ lines: Line[]; previous: number | null }> {
  const passes = passing(filter)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const wanted = filter.level ? levelPage : isFiltered ? page : { limit, maxLength }
  const first = filter.level ? getExtent(deps.logDb, log).first : Infinity
  const end = performance.now() + timeoutMs
  const found: Line[] = []
  let size = 0
  const isFull = () => found.length === limit || size >= maxLength
  do {
    const lines = await linesBefore(deps, log, { ...wanted, before })
    const isPassed = lines.map(passes)
    for (let at = lines.length - 1; at >= leadOf(lines, first); at--) {
      const line = lines[at]!
      before = line.sequence
      if (!isPassed[at]) continue
      found.push(line)
      size += line.text.length
      if (isFull()) break
    }
    const isAtStart = lines.length === 0 || (!isFull() && lines[0]!.time < (filter.since ?? 0))
    if (isAtStart) return { lines: found.reverse(), previous: null }
  } while (isFiltered && !isFull() && performance.now() < end)
  const isMore = getBlockBefore(deps.logDb, { ...log, before }) !== undefined
  return { lines: found.reverse(), previous: isMore ? before : null }
}

/** Counts the lines that only serve as context for later ones; they are returned by the next call. */
const leadOf = (lines: Line[], first: number) =>
  lines.length > 0 && lines[0]!.sequence > first
    ? Math.min(leadingLines, Math.floor(lines.length / 2))
    : 0

async function linesBefore(
  { logDb, masks }: Reading,
  log: LogKey,
  { before, limit, maxLength }: { before: number; limit: number; maxLength: number },
) {
  const { mask } = await masks.of(log.sourceId)
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
 * Returns the lines after a sequence number that pass the filter. Stops after two seconds, or when the lines
 * are very long. `next` is where to continue; null at the end of the log.
 */
export async function findLines(
  deps: Reading,
  log: LogKey,
  { limit, maxLength = usualLength, ...filter }: ReadOptions & LogFilter & { after: number },
): Promise<{ lines: Line[]; next: number | null }> {
  const end = performance.now() + timeoutMs
  const lines: Line[] = []
  let size = 0
  for await (const found of eachLines(deps, log, filter)) {
    for (const line of found.lines) {
      if (lines.length === limit || size >= maxLength)
        return { lines, next: lines.at(-1)!.sequence }
      lines.push(line)
      size += line.text.length
    }
    if (performance.now() > end) return { lines, next: found.last }
  }
  return { lines, next: null }
}

/** Counts the lines of the whole log that pass the filter; null when it takes more than some seconds. */
export async function countLines(deps: Reading, log: LogKey, filter: LogFilter) {
  const end = performance.now() + timeoutMs
  let count = 0
  for await (const { lines } of eachLines(deps, log, { ...filter, after: 0 })) {
    count += lines.length
    if (performance.now() > end) return null
  }
  return count
}

/**
 * Yields the lines after a sequence number that pass the filter, as they may be shown now, block by block:
 * each block is read once. `last` is the last sequence number that was checked. Yields to other work between
 * blocks.
 */
export async function* eachLines(
  { logDb, masks }: Reading,
  log: LogKey,
  {
    after,
    passes: given,
    ...filter
  }: LogFilter & { after: number; passes?: ReturnType<typeof passing> },
): AsyncGenerator<{ lines: Line[]; last: number }> {
  const { search, since, level, until = Infinity } = filter
  const start = since === undefined ? 0 : getSequenceBefore(logDb, { ...log, time: since })
  if (start === null) return
  const passes = given ?? passing(filter)
  const { mask } = await masks.of(log.sourceId)
  const shown = new ShownLines(mask)
  // If the previous line is a piece of a longer one, it determines what is masked in the next.
  const from = Math.max(after, start) - (level ? leadingLines : mask === noMask ? 0 : 1)
  let last = after
  let seen = from
  for (const block of blocksAfter(logDb, log, from)) {
    if (block.firstTime > until) return
    const lines: Line[] = []
    for (const stored of level || mayContain(block, search) ? readBlock(block) : []) {
      if (stored.sequence <= seen) continue // the newest block may have grown since it was read
      seen = stored.sequence
      const line = shown.of(stored)
      if (passes(line) && seen > last) lines.push(line)
      last = Math.max(last, seen)
      if (isTurnOver()) await pause()
    }
    last = Math.max(last, block.last)
    yield { lines, last }
    await pause()
  }
}

/** Avoids reading most blocks in a search. Masked text can't match in any of them. */
const mayContain = ({ data }: Block, search = '') =>
  search === '' ||
  search.includes('*') ||
  unpack(data).toLowerCase().includes(packed(search).toLowerCase())

/** Returns a filter for lines as they may be shown. Call it for lines in order, as some belong together. */
export function passing({
  search = '',
  stream,
  container,
  deploymentId,
  process,
  level,
  since = -Infinity,
  until = Infinity,
}: LogFilter) {
  const wanted = search.toLowerCase()
  const isAt = atLevels(level)
  return (line: Line) => {
    const { time, text } = line
    return (
      isAt(line) &&
      time >= since &&
      time <= until &&
      (stream === undefined || line.stream === stream) &&
      (container === undefined || line.container === container) &&
      (deploymentId === undefined || line.deploymentId === deploymentId) &&
      (process === undefined ||
        process.includes(line.process) ||
        process.includes(processLabel(line))) &&
      (wanted === '' || text.toLowerCase().includes(wanted))
    )
  }
}

/** Oldest first. */
export function* blocksAfter(logDb: LogDb, log: LogKey, after: number): Generator<Block> {
  for (let block = getBlockAfter(logDb, { ...log, after }); block;) {
    yield block
    block = getBlockAfter(logDb, { ...log, after: block.last })
  }
}
