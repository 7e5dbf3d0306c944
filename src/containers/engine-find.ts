import { end, timeOfSequence } from './log-line.ts'
import type { Line } from './log-line.ts'
import { disorder } from './log-place.ts'
import type { LogPage, LogWanted } from './log-source.ts'

/** Milliseconds after which a search returns what it has found. */
const timeoutMs = 2000

/** Characters after which a page of lines ends. */
const usualLength = 2 ** 20

/** If the last lines up to this many aren't enough, the whole log is read. */
const maxTail = 2_000_000

/** Lines read ahead of the requested ones, because the sequence numbers of the first ones aren't reliable. */
const lead = 100

type Read = (
  asked: Pick<LogWanted, 'tail' | 'since' | 'until' | 'signal'>,
) => AsyncGenerator<Line[]>

type FindOptions = Pick<LogWanted, 'since' | 'until' | 'signal'> & {
  limit: number
  maxLength?: number | undefined
  passes: (line: Line) => boolean
}

/** Finds the lines after a sequence number, as far as the engine still has them. */
export async function findAfter(
  read: Read,
  {
    after,
    since = 0,
    limit,
    maxLength = usualLength,
    passes,
    ...asked
  }: FindOptions & { after: number },
): Promise<LogPage> {
  const stop = performance.now() + timeoutMs
  const found: Line[] = []
  let size = 0
  let last = after
  const from = Math.max(timeOfSequence(after), since)
  for await (const lines of read({ ...asked, since: Math.min(from, Date.now()) - disorder })) {
    for (const line of lines) {
      const isPassed = passes(line)
      if (line.sequence <= after || Date.parse(line.timestamp) < since) continue
      if (found.length === limit || size >= maxLength)
        return { lines: found, previous: null, next: last }
      last = line.sequence
      if (!isPassed) continue
      found.push(line)
      size += line.text.length
    }
    if (last > after && performance.now() > stop)
      return { lines: found, previous: null, next: last }
  }
  return { lines: found, previous: null, next: null }
}

/** Finds the last lines before a sequence number: reads a growing tail of the log until there are enough. */
export async function findBefore(
  read: Read,
  {
    before,
    since = 0,
    limit,
    maxLength = usualLength,
    passes,
    ...asked
  }: FindOptions & { before: number },
): Promise<LogPage> {
  const stop = performance.now() + timeoutMs
  const until = before === end ? asked.until : timeOfSequence(before) + disorder
  let seen = 0
  for (let reach = 4 * limit; ; reach *= 4) {
    const tail = reach < maxTail ? reach + lead : undefined
    const found: { line: Line; at: number }[] = []
    let [count, looked, size, isCut, isLong] = [0, 0, 0, false, false]
    /** The first line in range, and the first one whose sequence number is reliable. */
    let first: number | null = null
    let sure: number | null = null
    for await (const lines of read({ ...asked, until, tail }))
      for (const line of lines) {
        const at = count++
        const isPassed = passes(line)
        if (line.sequence >= before || Date.parse(line.timestamp) < since) continue
        looked++
        first ??= line.sequence
        if (at >= lead) sure ??= line.sequence
        if (!isPassed) continue
        found.push({ line, at })
        size += line.text.length
        isLong ||= size > maxLength
        for (; found.length > limit || (size > maxLength && found.length > 1); isCut = true)
          size -= found.shift()!.line.text.length
      }
    // a longer tail that yields no more lines reaches the start of the range
    const isWhole = tail === undefined || (looked > 0 && looked === seen)
    seen = looked
    const lines = found.filter(({ at }) => isWhole || at >= lead).map(({ line }) => line)
    const isOver = performance.now() > stop && sure !== null
    const isFull = lines.length === limit || (isLong && lines.length > 0)
    if (!isWhole && !isFull && !isOver) continue
    if (isWhole && (!isCut || lines[0]!.sequence === first))
      return { lines, previous: null, next: null }
    const previous = isFull ? lines[0]!.sequence : sure!
    return { lines, previous, next: null }
  }
}
