import type { Deps } from '../deps.ts'
import { labelFilter } from './labels.ts'
import {
  deleteLogRows,
  deleteProject,
  isRepositoryUsed,
  listDeploymentIds,
  updateProject,
} from './store.ts'
import type { Project } from './store.ts'

type RemovalDeps = Pick<Deps, 'config' | 'db' | 'logDb' | 'docker' | 'git' | 'queue' | 'instanceId'>

/** One thing that went: a container, image, network, volume, mirror, or the project itself. */
export type Removed = { kind: string; name: string }

/**
 * Deletes a project and all that Davit made for it; named volumes only when asked. The intent is
 * stored first, and every step can be repeated: what a crash leaves is taken up at the next start.
 */
export async function removeProject(
  deps: RemovalDeps,
  { project, volumes }: { project: Project; volumes: boolean },
): Promise<Removed[]> {
  await deps.docker.info() // nothing is touched while the engine can't be asked what there is
  updateProject(deps.db, project.id, {
    deletingAt: project.deletingAt ?? new Date(),
    deletingVolumes: volumes,
  })
  await deps.queue.cancelProject(project.id)
  const removed = [
    ...(await removeFromEngine(deps, { projectId: project.id, volumes })),
    ...(await removeFiles(deps, project)),
    { kind: 'project', name: project.name },
  ]
  deleteProject(deps.db, project.id)
  return removed
}

/** Removes what the engine holds of a project, or of one environment of it; the network goes with the project. */
export async function removeFromEngine(
  { docker, instanceId }: Pick<Deps, 'docker' | 'instanceId'>,
  { volumes, ...of }: { projectId: string; environmentId?: string; volumes: boolean },
): Promise<Removed[]> {
  const labels = labelFilter(instanceId, of)
  const removed: Removed[] = []
  for (const { id, name } of await docker.listContainers({ labels, all: true }))
    if (await docker.removeContainer(id, { force: true })) removed.push({ kind: 'container', name })
  for (const { tags, id } of await docker.listImages({ labels }))
    for (const reference of tags.length > 0 ? tags : [id])
      if (await docker.removeImage(reference)) removed.push({ kind: 'image', name: reference })
  if (!of.environmentId)
    for (const { id, name } of await docker.listNetworks({ labels }))
      if (await docker.removeNetwork(id)) removed.push({ kind: 'network', name })
  if (volumes)
    for (const { name } of await docker.listVolumes({ labels }))
      if (await docker.removeVolume(name)) removed.push({ kind: 'volume', name })
  return removed
}

async function removeFiles({ db, logDb, git }: RemovalDeps, project: Project): Promise<Removed[]> {
  for (const id of listDeploymentIds(db, project.id)) deleteLogRows(logDb, id)
  if (isRepositoryUsed(db, { repositoryUrl: project.repositoryUrl, besides: project.id })) return []
  const had = await git.removeMirror(project.repositoryUrl)
  return had ? [{ kind: 'git mirror', name: project.repositoryUrl }] : []
}
