import { eq } from 'drizzle-orm'
import { runs, schedules } from '../../src/db/schema.ts'
import { startDue } from '../../src/jobs/due.ts'
import { timed } from '../../src/schedules/start.ts'
import { aLiveEnvironment } from '../runs/runs.ts'
import { testApp } from '../support/app.ts'

/** An environment with a schedule; no run begins, so that a test decides when one ends. */
export async function scheduled(more: Record<string, unknown> = {}) {
  const of = await aLiveEnvironment({ t: testApp({}, { jobsWait: true }) })
  const { ada, db, id } = of
  const path = `/envs/${id}/schedules`
  const body = { name: 'nightly', command: 'true', schedule: '0 3 * * *', ...more }
  const { json, status, text } = await ada.post(path, body)
  if (status !== 201) throw new Error(text)
  const one = `${path}/${json.id}`
  const set = (values: Partial<typeof schedules.$inferInsert>) =>
    db.update(schedules).set(values).where(eq(schedules.id, json.id)).run()
  return {
    ...of,
    path,
    one,
    scheduleId: json.id as string,
    set,
    shown: async () => (await ada.get(one)).json,
    runs: () => db.select().from(runs).all(),
    endRuns: (status: 'succeeded' | 'failed' = 'succeeded') =>
      db
        .update(runs)
        .set({ status, exitCode: status === 'failed' ? 1 : 0 })
        .run(),
    /** Plans it for a time, and lets that be the time. */
    async due(at: string, { late = 0 } = {}) {
      set({ nextAt: new Date(at) })
      await startDue(db, timed(of.t.deps), new Date(Date.parse(at) + late))
    },
  }
}
