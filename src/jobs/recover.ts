import type { Docker } from '../docker/index.ts'
import { waitForEngine } from '../docker/retry-while-engine-down.ts'
import type { Jobs } from './jobs.ts'
import type { Job } from './store.ts'

/** Resumes the jobs of these kinds that the last process started, once the engine responds. */
export async function recoverJobs(
  { docker, jobs }: { docker: Docker; jobs: Jobs },
  kinds: readonly Job['kind'][],
  { signal }: { signal: AbortSignal },
) {
  if (!(await waitForEngine(docker, { signal }))) return
  await jobs.recover(kinds)
  jobs.wake()
}
