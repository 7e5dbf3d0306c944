import type { Deps } from '../deps.ts'
import { Pace } from '../web/pace.ts'
import { ShownLines } from '../logs/shown-lines.ts'
import { listLastLines, listLines } from './log-store.ts'
import type { LogLine } from './log-store.ts'
import type { Deployment } from './store.ts'

type Reading = Pick<Deps, 'logDb' | 'masks'>
type Log = Pick<Deployment, 'id' | 'environmentId'>

/** Milliseconds after which a search answers with what it has; its cursor says where it goes on. */
const patience = 2000

/** What is read from the database before other work has its turn. */
const atOnce = { limit: 1000, maxLength: 256 * 1024 }

/** Characters after which a page of lines ends early: its cursor says where the next one goes on. */
const usualLength = 2 ** 20

/** The lines after that sequence as they may be shown now; `next` is the one to go on after, null at the end. */
export async function readLines(
  deps: Reading,
  { log, after, limit }: { log: Log; after: number; limit: number },
) {
  const lines: LogLine[] = []
  let length = 0
  for await (const line of shownLines(deps, log, { after })) {
    if (lines.length === limit || length >= usualLength)
      return { lines, next: lines.at(-1)!.sequence }
    lines.push(line)
    length += line.text.length
  }
  return { lines, next: null }
}

/**
 * The lines after that sequence that, as they may be shown now, contain the text, whatever the case of
 * its letters. `found` says how many there are in the whole log. It stops after two seconds: then `next`
 * is the sequence to go on after, and `found` null.
 */
export async function searchLines(
  deps: Reading,
  { log, after, limit, search }: { log: Log; after: number; limit: number; search: string },
) {
  const wanted = search.toLowerCase()
  const end = performance.now() + patience
  const lines: LogLine[] = []
  let next: number | null = null
  let found = 0
  let length = 0
  for await (const line of shownLines(deps, log, { after })) {
    if (performance.now() > end) return { lines, next: next ?? line.sequence - 1, found: null }
    if (!line.text.toLowerCase().includes(wanted)) continue
    found++
    if (lines.length < limit && length < usualLength) {
      lines.push(line)
      length += line.text.length
    } else next ??= lines.at(-1)!.sequence
  }
  if (after > 0)
    for await (const { sequence, text } of shownLines(deps, log, { after: 0 })) {
      if (performance.now() > end) return { lines, next, found: null }
      if (sequence > after) break
      if (text.toLowerCase().includes(wanted)) found++
    }
  return { lines, next, found }
}

/** The end of a log as it may be shown now, in order; less of it when the lines are long. */
export async function readLastLines(
  { logDb, masks }: Reading,
  { id, environmentId }: Log,
  wanted: { limit: number; maxLength: number },
) {
  const shown = new ShownLines(await masks.of(environmentId))
  return listLastLines(logDb, { deploymentId: id, ...wanted }).map((line) => shown.of(line))
}

/** All of a log as it may be shown now, in texts of some size. */
export async function* wholeLog(deps: Reading, log: Log, textOf: (line: LogLine) => string) {
  let text = ''
  for await (const line of shownLines(deps, log, { after: 0 })) {
    text += textOf(line)
    if (text.length < atOnce.maxLength) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

async function* shownLines(
  { logDb, masks }: Reading,
  { id: deploymentId, environmentId }: Log,
  { after }: { after: number },
): AsyncGenerator<LogLine> {
  const shown = new ShownLines(await masks.of(environmentId))
  const pace = new Pace()
  // from the line before on: where that is a piece of a long one, it tells what of the next one is hidden
  for (let last = after - 1; ;) {
    const stored = listLines(logDb, { deploymentId, after: last, ...atOnce })
    if (stored.length === 0) return
    for (const line of stored) {
      const now = shown.of(line)
      if (now.sequence > after) yield now
      if (pace.isOver) await pace.step()
    }
    last = stored.at(-1)!.sequence
    await pace.step()
  }
}
