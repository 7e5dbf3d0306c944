import { sql } from 'drizzle-orm'
import type { Deps } from '../deps.ts'
import { factory } from './factory.ts'

/** Liveness, and readiness: the database answers and no stop is under way. The engine is reported, not required. */
export const healthRoutes = ({ db, streams }: Pick<Deps, 'db' | 'streams'>) =>
  factory
    .createApp()
    .get('/health', (c) => c.json({ status: 'ok' }))
    .get('/health/ready', (c) => {
      if (streams.shutdown.aborted) return c.json({ status: 'stopping' }, 503)
      try {
        db.get(sql`SELECT 1`)
        return c.json({ status: 'ready' })
      } catch {
        return c.json({ status: 'the database does not answer' }, 503)
      }
    })
