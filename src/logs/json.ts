import { z } from 'zod'
import { component, componentOf, id, time, listOf } from '../web/operation.ts'

export const logLine = componentOf('LogLine', () => ({
  seq: z.int(),
  time,
  stream: z.enum(['system', 'stdout', 'stderr']),
  text: z.string(),
}))

/** A line of a container's output, with its source. */
export const outputLine = component('OutputLine', () =>
  logLine().extend({
    deploymentId: id.nullable(),
    container: z.string(),
    /** Null when it is unknown. */
    process: z.string().nullable(),
    /** Counted from 1; null if the process has a single container. */
    replica: z.int().nullable(),
    /** Null while there is only one. */
    server: z.string().nullable(),
  }),
)

/** What to send as `before` for earlier lines; missing at the start of the log, and where lines after one were asked for. */
export const previousCursor = () => z.string().optional()

/** Lines of a deployment or job; a search has the total number of hits. */
export const jobLog = component('JobLog', () =>
  listOf(logLine()).extend({ previousCursor: previousCursor(), found: z.int().optional() }),
)

/** Lines of containers, with the first and last stored one, the time of the first, and the processes. */
export const output = component('Output', () =>
  listOf(outputLine()).extend({
    previousCursor: previousCursor(),
    first: z.int(),
    last: z.int(),
    since: time.nullable(),
    processes: z.array(z.object({ process: z.string(), replicas: z.int() })),
  }),
)
