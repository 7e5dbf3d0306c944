import type { Context } from 'hono'
import { lastEventId } from '../web/sse.ts'
import type { Line } from './log-line.tsx'
import type { LogKey } from './store.ts'

/** The id of a line where the same address has one log after another: it names the log too. */
export const namedId =
  ({ logId }: LogKey) =>
  ({ sequence }: Line) =>
    `${logId}:${sequence}`

/** The last line that a reader had of this log; `isAgain` is also true for one who had lines of another. */
export function lastRead(c: Context, { logId }: LogKey, { isNamed }: { isNamed: boolean }) {
  const plain = lastEventId(c) // it names no log: this one's, as with `after` alone
  if (!isNamed || plain > 0) return { last: plain, isAgain: plain > 0 }
  const [, named, sequence] =
    /^([\w-]+):(\d{1,15})$/.exec(c.req.header('Last-Event-ID') ?? '') ?? []
  return { last: named === logId ? Number(sequence) : 0, isAgain: named !== undefined }
}
