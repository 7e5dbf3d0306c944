import type { Db, LogDb } from '../db/index.ts'
import type { Git } from '../git/git.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { journal } from '../platform/journal.ts'
import { pause } from '../platform/pause.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { deleteSome, removeLogsOf } from '../logs/store.ts'
import { removeShared } from '../runtime/images/remove.ts'
import { removeAlone, removeFromEngine, removeNetworksOf } from '../runtime/remove.ts'
import type { Removed } from '../runtime/remove.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import {
  deleteProject,
  listDeploymentIds,
  listEnvironmentIds,
  listJobSubjects,
  listOwnRepositories,
  listNamedImages,
  listSiblings,
  previewIds,
} from './store.ts'
import type { Project } from './store.ts'
import { registerWebhook, removeWebhook } from './webhook.ts'
import type { WebhookDeps } from './webhook.ts'

export type RemovalDeps = WebhookDeps &
  RuntimeDeps & { logDb: LogDb; git: Git; jobs: Jobs; scheduler: Pick<Scheduler, 'wake'> }

/**
 * Deletes a project and everything that Davit created for it; named volumes only if requested, or of previews. The caller has
 * stored the intent. Every step is repeatable: an interrupted removal resumes at the next start.
 */
export const removeProject = (
  deps: RemovalDeps,
  { project, volumes }: { project: Project; volumes: boolean },
): Promise<Removed[]> =>
  removeAlone(project.id, async () => {
    const environmentIds = listEnvironmentIds(deps.db, project.id)
    await deps.jobs.cancelAll({ subjectIds: listJobSubjects(deps.db, environmentIds) })
    const removed = [
      ...(await tryRemoveWebhook(deps, project)),
      ...(volumes ? [] : await removePreviews(deps, project)),
      ...(await removeFromEngine(deps, {
        kind: 'app',
        projectId: project.id,
        volumes,
        named: listNamedImages(deps.db, { projectId: project.id }),
      })),
      ...(await removeNetworksOf(deps, environmentIds)),
      ...(await removeMirrors(deps, project)),
      { kind: 'project', name: project.name },
    ]
    await removeShared(deps, project.id, () => false)
    await removeLogs(deps, { projectId: project.id })
    deleteProject(deps.db, project.id)
    deps.scheduler.wake() // its previews had services of their own
    void deps.edge.sync()
    return removed
  })

/** Their volumes are never kept. */
async function removePreviews(deps: RemovalDeps, { id: projectId }: Project) {
  const removed: Removed[] = []
  for (const environmentId of previewIds(deps.db, projectId)) {
    const of = { kind: 'app', projectId, environmentId, images: false } as const
    removed.push(...(await removeFromEngine(deps, { ...of, volumes: true })))
  }
  return removed
}

/** A provider that doesn't respond, or refuses, doesn't block the removal. */
export async function tryRemoveWebhook(deps: WebhookDeps, project: Project): Promise<Removed[]> {
  if (project.webhookId === null) return []
  try {
    if (await handOver(deps, project)) return []
    await removeWebhook(deps, { project, signal: AbortSignal.timeout(10_000) })
    return [{ kind: 'webhook', name: project.repository ?? project.repositoryUrl }]
  } catch (error) {
    warn('a webhook could not be removed at its provider', { project, error })
    return []
  }
}

/** Before a project drops its git source. False when its webhook stays as it is, and reports pushes on. */
export async function tryHandOver(deps: WebhookDeps, project: Project): Promise<boolean> {
  try {
    return await handOver(deps, project)
  } catch (error) {
    warn('a webhook could not be handed over to another project', { project, error })
    return false
  }
}

const warn = (message: string, { project, error }: { project: Project; error: unknown }) =>
  journal.warn(message, {
    project: project.id,
    repository: project.repository,
    reason: error instanceof Error ? error.message : String(error),
  })

/** To another project of the owner that got its deliveries; false without one. */
async function handOver(deps: WebhookDeps, project: Project): Promise<boolean> {
  const heir = listSiblings(deps.db, project).find(
    ({ sourceId, webhookId }) => sourceId !== null && webhookId === null,
  )
  if (!heir) return false
  await registerWebhook(deps, { project: heir, signal: AbortSignal.timeout(10_000) })
  return true
}

export async function removeLogs(
  { db, logDb }: { db: Db; logDb: LogDb },
  of: { projectId: string; environmentId?: string },
) {
  for (const id of listDeploymentIds(db, of)) while (deleteSome(logDb, { logId: id })) await pause()
  const { projectId, environmentId } = of
  for (const id of environmentId ? [environmentId] : listEnvironmentIds(db, projectId))
    await removeLogsOf(logDb, id)
}

async function removeMirrors({ db, git }: RemovalDeps, { id }: Project): Promise<Removed[]> {
  const removed: Removed[] = []
  for (const url of listOwnRepositories(db, id))
    if (await git.removeMirror(url)) removed.push({ kind: 'git mirror', name: url })
  return removed
}
