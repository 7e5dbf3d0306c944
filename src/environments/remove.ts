import type { Db, LogDb } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Collector } from '../logs/collector.ts'
import { removeLogs } from '../projects/remove.ts'
import { removeFromEngine } from '../runtime/remove.ts'
import type { Removed } from '../runtime/remove.ts'
import { deleteEnvironment } from './store.ts'
import type { Environment } from './store.ts'

export type RemovalDeps = {
  collector: Collector
  db: Db
  logDb: LogDb
  docker: Docker
  jobs: Jobs
  instanceId: string
}

/**
 * Deletes an environment and what Davit made for it; its volumes stay. Who calls it has stored the
 * intent, after which nothing deploys to it, and every step can be repeated: what a crash leaves is
 * taken up at the next start.
 */
export async function removeEnvironment(
  deps: RemovalDeps,
  { id, projectId, name }: Environment,
): Promise<Removed[]> {
  const of = { projectId, environmentId: id }
  await deps.jobs.cancelAll({ subjectIds: [id] })
  const removed = await removeFromEngine(deps, { kind: 'app', ...of, volumes: false })
  await removeLogs(deps, of)
  deleteEnvironment(deps.db, id)
  return [...removed, { kind: 'environment', name }]
}
