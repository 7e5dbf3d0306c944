import type { ContainerOptions } from '../docker/index.ts'
import { labelFilter, labelsFor, processLabel } from '../docker/labels.ts'
import { endOfName } from './steps/create.ts'
import { ensureNetwork } from './network.ts'
import type { NetworkDeps } from './network.ts'
import type { PipedOptions } from '../docker/piped.ts'

export type BackupDeps = NetworkDeps & { instanceId: string }

type Wanted = Omit<PipedOptions, 'name' | 'labels' | 'network' | 'signal'> & {
  signal: AbortSignal
  ownerId: string
  /** What it does, for its name. */
  does: string
  /** False for one without a network, or a container whose network it shares. */
  isOnline: boolean | { sharedWith: string }
  /** Volumes of Davit’s own to create, such as a cache. */
  ownVolumes?: NonNullable<ContainerOptions['volumes']>
}

const thisProcess = crypto.randomUUID()

/** Runs a container of a backup to its end. Online, it is in a network in which nothing but backups is. */
export async function runForBackup(deps: BackupDeps, wanted: Wanted) {
  const { ownerId, does, isOnline, ownVolumes = [], volumes = [], ...options } = wanted
  const { docker, instanceId } = deps
  const { signal } = wanted
  const labels = labelsFor({ instanceId, kind: 'backup', ownerId })
  const network =
    typeof isOnline === 'object'
      ? `container:${isOnline.sharedWith}`
      : isOnline
        ? await ensureBackupNetwork(deps, { signal })
        : 'none'
  for (const { name } of ownVolumes) await docker.createVolume({ name, labels, signal })
  return docker.runPiped({
    ...options,
    name: `davit-${does}-${Bun.randomUUIDv7().slice(-12)}${endOfName(instanceId)}`,
    labels: { ...labels, [processLabel]: thisProcess },
    network,
    volumes: [...ownVolumes, ...volumes],
  })
}

/** Whose containers reach targets, and no app or service. Returns its name. */
export const ensureBackupNetwork = (deps: BackupDeps, { signal }: { signal: AbortSignal }) => {
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
  { docker, instanceId }: Pick<BackupDeps, 'docker' | 'instanceId'>,
  { signal }: { signal: AbortSignal },
) {
  const labels = labelFilter(instanceId, { kind: 'backup' })
  const found = await docker.listContainers({ labels, all: true, signal })
  for (const { id } of found.filter(({ labels }) => labels[processLabel] !== thisProcess))
    await docker.removeContainer(id, { force: true, volumes: true })
}
