import { accessProcess } from '../logs/log-line.tsx'
import type { Line } from '../logs/log-line.tsx'
import { eachLines, findLines } from '../logs/read-log.ts'
import type { Reading } from '../logs/read-log.ts'
import { getSequenceBefore } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { getLast, getLastRemoved } from './store.ts'
import type { Drain } from './store.ts'

export const logOf = ({ environmentId }: Pick<Drain, 'environmentId'>): LogKey => ({
  sourceId: environmentId,
  logId: '',
})

/** The last line before the drain was created: it begins with the next. */
export async function startOf(deps: Reading, drain: Pick<Drain, 'environmentId' | 'createdAt'>) {
  const log = logOf(drain)
  const since = drain.createdAt.getTime()
  const before = getSequenceBefore(deps.logDb, { ...log, time: since })
  const found =
    before === null ? null : await findLines(deps, log, { after: before, since, limit: 1 })
  const first = found?.lines[0]?.sequence
  return first === undefined ? getLast(deps.logDb, log) : first - 1
}

/** The next lines. Gaps in their numbers are lines that were removed before they were read. */
export async function readBatch(
  deps: Reading,
  log: LogKey,
  {
    after,
    most,
    requests,
  }: { after: number; most: { lines: number; length: number }; requests: boolean },
) {
  const lines: Line[] = []
  let last = after
  let dropped = 0
  let length = 0
  for await (const found of eachLines(deps, log, { after }))
    for (const line of found.lines) {
      if (lines.length === most.lines || length >= most.length)
        return { lines, last, dropped, isFull: true }
      dropped += line.sequence - last - 1
      last = line.sequence
      if (!requests && line.process === accessProcess) continue
      lines.push(line)
      length += line.text.length
    }
  const removed = getLastRemoved(deps.logDb, log)
  if (removed > last) {
    dropped += removed - last
    last = removed
  }
  return { lines, last, dropped, isFull: false }
}
