import { Database } from 'bun:sqlite'
import type { LogDb } from '../../src/db/index.ts'
import { lineRows, pack, readBlock } from '../../src/logs/block.ts'
import { blocksAfter } from '../../src/logs/read-log.ts'
import type { LogKey } from '../../src/logs/store.ts'

/** All lines of a log as they were stored. */
export const storedLines = (logDb: LogDb, log: LogKey) =>
  [...blocksAfter(logDb, log, 0)].flatMap(readBlock)

/** Lengthens the log of a deployment that has ended up to that line, while its server may run. */
export function lengthenLog(
  path: string,
  logId: string,
  { last, text }: { last: number; text: (sequence: number) => string },
) {
  using logs = new Database(path)
  logs.run('PRAGMA busy_timeout = 10000')
  const [[end]] = logs
    .query('SELECT max(last) FROM output_blocks WHERE log_id = ?')
    .values(logId) as [[number]]
  const insert = logs.query(
    `INSERT INTO output_blocks (source_id, log_id, first, last, first_time, last_time, data)
     SELECT source_id, log_id, ?2, ?3, 0, 0, ?4 FROM output_blocks WHERE log_id = ?1 LIMIT 1`,
  )
  const atOnce = 500
  logs.transaction(() => {
    for (let first = end + 1; first <= last; first += atOnce) {
      const count = Math.min(atOnce, last + 1 - first)
      const lines = Array.from({ length: count }, (_, at) => ({
        ...{ time: 0, stream: 'stdout' as const, text: text(first + at) },
      }))
      insert.run(logId, first, first + count - 1, pack(lineRows(lines)))
    }
  })()
}
