import type { ContainerOptions } from '../docker/index.ts'
import { labelFilter, labelsFor } from '../docker/labels.ts'
import { endOfName } from './steps/create.ts'
import { ensureNetwork } from './network.ts'
import type { NetworkDeps } from './network.ts'
import type { PipedOptions } from '../docker/piped.ts'

type Deps = NetworkDeps & { instanceId: string }

type Wanted = Omit<PipedOptions, 'name' | 'labels' | 'network' | 'signal'> & {
  signal: AbortSignal
  ownerId: string
  /** What it does, for its name. */
  does: string
  /** False for one without a network. */
  isOnline: boolean
  /** Volumes of Davit’s own to create, such as a cache. */
  ownVolumes?: NonNullable<ContainerOptions['volumes']>
}

/** Runs a container of a backup to its end. It has a network of its own, in which nothing else is. */
export async function runForBackup(deps: Deps, wanted: Wanted) {
  const { ownerId, does, isOnline, ownVolumes = [], volumes = [], ...options } = wanted
  const { docker, instanceId } = deps
  const { signal } = wanted
  const labels = labelsFor({ instanceId, kind: 'backup', ownerId })
  for (const { name } of ownVolumes) await docker.createVolume({ name, labels, signal })
  return docker.runPiped({
    ...options,
    name: `davit-${does}-${Bun.randomUUIDv7().slice(-12)}${endOfName(instanceId)}`,
    labels,
    network: isOnline ? await ensureBackupNetwork(deps, { signal }) : 'none',
    volumes: [...ownVolumes, ...volumes],
  })
}

/** Whose containers reach targets, and no app or service. Returns its name. */
export const ensureBackupNetwork = (deps: Deps, { signal }: { signal: AbortSignal }) => {
  const { instanceId } = deps
  return ensureNetwork(deps, {
    name: `davit-backup${endOfName(instanceId)}`,
    filter: labelFilter(instanceId, { kind: 'backup' }),
    labels: labelsFor({ instanceId, kind: 'backup', ownerId: '' }),
    signal,
  })
}

/** Removes what a killed process left: nothing reads the output of these any more. */
export async function removeBackupContainers(
  { docker, instanceId }: Pick<Deps, 'docker' | 'instanceId'>,
  { signal }: { signal: AbortSignal },
) {
  const labels = labelFilter(instanceId, { kind: 'backup' })
  for (const { id } of await docker.listContainers({ labels, all: true, signal }))
    await docker.removeContainer(id, { force: true, volumes: true })
}
