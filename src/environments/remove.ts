import { removeLogs } from '../projects/remove.ts'
import type { RemovalDeps } from '../projects/remove.ts'
import { listImagesBeside, listJobSubjects, listNamedImages } from '../projects/store.ts'
import { removeShared } from '../runtime/images/remove.ts'
import { removeAlone, removeFromEngine } from '../runtime/remove.ts'
import type { Removed } from '../runtime/remove.ts'
import { getPreview } from './preview-store.ts'
import { deleteEnvironment } from './store.ts'
import type { Environment } from './store.ts'

/**
 * Deletes an environment and everything that Davit created for it; its volumes stay, but for a preview's. The
 * caller has stored the intent, after which nothing deploys to it. Every step is repeatable: an interrupted
 * removal resumes at the next start.
 */
export const removeEnvironment = (
  deps: Omit<RemovalDeps, 'git'>,
  { id, projectId, name }: Environment,
): Promise<Removed[]> =>
  removeAlone(id, async () => {
    const of = { projectId, environmentId: id }
    deps.routing.route({ id, kind: 'app' })
    await deps.jobs.cancelAll({ subjectIds: listJobSubjects(deps.db, [id]) })
    const removed = await removeFromEngine(deps, {
      kind: 'app',
      ...of,
      volumes: getPreview(deps.db, id) !== null,
      named: listNamedImages(deps.db, of),
      shared: listImagesBeside(deps.db, of),
    })
    await removeLogs(deps, of)
    deleteEnvironment(deps.db, id)
    deps.scheduler.wake() // a preview has services of its own
    void deps.edge.sync()
    await removeShared(deps, projectId)
    return [...removed, { kind: 'environment', name }]
  })
