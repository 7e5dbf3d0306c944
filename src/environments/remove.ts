import { removeLogs } from '../projects/remove.ts'
import type { RemovalDeps } from '../projects/remove.ts'
import { listJobSubjects } from '../projects/store.ts'
import { removeAlone, removeFromEngine } from '../runtime/remove.ts'
import type { Removed } from '../runtime/remove.ts'
import { deleteEnvironment } from './store.ts'
import type { Environment } from './store.ts'

/**
 * Deletes an environment and what Davit made for it; its volumes stay. Who calls it has stored the
 * intent, after which nothing deploys to it, and every step can be repeated: what a crash leaves is
 * taken up at the next start.
 */
export const removeEnvironment = (
  deps: Omit<RemovalDeps, 'git'>,
  { id, projectId, name }: Environment,
): Promise<Removed[]> =>
  removeAlone(id, async () => {
    const of = { projectId, environmentId: id }
    await deps.jobs.cancelAll({ subjectIds: listJobSubjects(deps.db, [id]) })
    const removed = await removeFromEngine(deps, { kind: 'app', ...of, volumes: false })
    await removeLogs(deps, of)
    deleteEnvironment(deps.db, id)
    return [...removed, { kind: 'environment', name }]
  })
