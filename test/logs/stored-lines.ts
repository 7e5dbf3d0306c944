import type { LogDb } from '../../src/db/index.ts'
import { readBlock } from '../../src/logs/block.ts'
import { blocksAfter } from '../../src/logs/read-log.ts'
import type { LogKey } from '../../src/logs/store.ts'

/** All lines of a log as they were stored. */
export const storedLines = (logDb: LogDb, log: LogKey) =>
  [...blocksAfter(logDb, log, 0)].flatMap(readBlock)
