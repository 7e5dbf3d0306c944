import { z } from 'zod'
import type { Db, LogDb } from '../db/index.ts'
import { factory } from './factory.ts'
import { component, does } from './operation.ts'
import type { SliceOperations } from './operation.ts'
import type { Streams } from './streams.ts'

/** Open to everyone, with whatever token. */
export const isHealthCheck = (path: string) => path === '/health' || path === '/health/ready'

/**
 * Liveness, and readiness: both databases respond and Davit isn't stopping. The engine may be unreachable. A
 * full disk is reported but doesn't count: reads work, and a restart frees nothing.
 */
export const healthRoutes = ({ db, logDb, streams }: { db: Db; logDb: LogDb; streams: Streams }) =>
  factory
    .createApp()
    .get('/health', (c) => c.json({ status: 'ok' }))
    .get('/health/ready', (c) => {
      if (streams.shutdown.aborted) return c.json({ status: 'stopping' }, 503)
      try {
        for (const { $client } of [db, logDb]) $client.run('SELECT 1 FROM sqlite_schema')
        return c.json({ status: 'ready', ...(db.$client.reserve.isGone && { disk: 'full' }) })
      } catch {
        return c.json({ status: 'the database doesn’t respond' }, 503)
      }
    })

const health = component('Health', () => z.object({ status: z.string() }))

/** While `disk` is `full`, Davit is read-only. */
const readiness = component('Readiness', () =>
  health().extend({ disk: z.literal('full').optional() }),
)

export const operations: SliceOperations = () => ({
  Health: {
    'GET /health': does('Check that Davit runs', health()),
    'GET /health/ready': {
      summary: 'Check that Davit can work',
      answers: { 200: readiness(), 503: readiness() },
    },
  },
})
