import { restoreKind } from '../../src/backups/restore/restore-job.ts'
import { jobs } from '../../src/db/schema.ts'
import type { SlotCalls } from '../../src/jobs/slots.ts'
import type { Job } from '../../src/jobs/store.ts'
import type { Work } from '../../src/jobs/task.ts'
import type { TestApp } from '../support/app.ts'

/** Its job as the next process takes it up. */
export function restoring(t: TestApp, backupId: string) {
  const [job] = t.db
    .select()
    .from(jobs)
    .all()
    .filter(({ input }) => input === backupId)
  return { job: job!, task: restoreKind(t.deps)(job!)! }
}

export function workOf(job: Job): Work {
  const { signal } = new AbortController()
  return { ...({} as SlotCalls), job, signal, undo: signal, shutdown: signal }
}
