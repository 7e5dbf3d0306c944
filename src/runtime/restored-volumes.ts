import { unlessUsed } from '../docker/index.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { removeBackupContainers } from './backup-containers.ts'
import type { RuntimeDeps } from './deps.ts'
import { labelsOf } from './workload.ts'
import type { Workload } from './workload.ts'

type EngineDeps = Pick<RuntimeDeps, 'docker' | 'instanceId'>

/** Creates the volume of a workload before its containers, so that it can be filled. */
export const createEmptyVolume = (
  { docker, instanceId }: EngineDeps,
  { workload, name, signal }: { workload: Workload; name: string; signal: AbortSignal },
) => docker.createVolume({ name, labels: labelsOf(instanceId, workload), signal })

/** Creates it unless it is there. False for one that isn't of this installation. */
export async function ensureVolume(
  { docker, instanceId }: EngineDeps,
  { name, labels }: { name: string; labels: Record<string, string> },
) {
  await docker.createVolume({ name, labels })
  const found = (await docker.listVolumes()).find((one) => one.name === name)
  return readLabels(found?.labels ?? {}).instanceId === instanceId
}

/** Those that an unfinished restore left. Returns those that stay, as containers use them. */
export async function removeVolumes({ docker }: Pick<EngineDeps, 'docker'>, names: Set<string>) {
  const used: string[] = []
  for (const name of names)
    if ((await unlessUsed(docker.removeVolume(name).then(() => true))) === false) used.push(name)
  return used
}

/** Removes those of apps and services that aren’t among these. */
export async function removeOtherVolumes(
  { docker, instanceId }: EngineDeps,
  names: ReadonlySet<string>,
) {
  for (const kind of ['app', 'service'] as const)
    for (const { name } of await docker.listVolumes({ labels: labelFilter(instanceId, { kind }) }))
      if (!names.has(name)) await docker.removeVolume(name)
}

/** Removes the containers, caches and networks that backups of an installation use, but for those of this process. */
export async function removeBackupHelpers(
  { docker, instanceId }: EngineDeps,
  { signal }: { signal: AbortSignal },
) {
  const labels = labelFilter(instanceId, { kind: 'backup' })
  await removeBackupContainers({ docker, instanceId }, { signal })
  for (const { name } of await docker.listVolumes({ labels, signal }))
    await unlessUsed(docker.removeVolume(name))
  for (const { id } of await docker.listNetworks({ labels, signal }))
    await unlessUsed(docker.removeNetwork(id))
}
