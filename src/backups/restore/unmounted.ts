import { createEmptyVolume } from '../../runtime/restored-volumes.ts'
import { pinUnlessPinned } from '../../runtime/pins.ts'
import type { Workload } from '../../runtime/workload.ts'
import { versionedStack } from '../../services/definition.ts'
import type { Definition } from '../../services/definition.ts'
import { mayBeImageVolume } from '../../services/image-volumes.ts'
import { keepVolumesOf } from '../../services/keep-volumes.ts'
import { volumesOf } from '../../services/outline.ts'
import { serverOf } from '../../services/placement.ts'
import { whereDataIs } from '../data.ts'
import type { BackupDeps } from '../deps.ts'
import { volumesIn } from '../store.ts'
import type { Backup } from '../store.ts'
import type { Subject } from '../subject.ts'

/** The volumes of a backup that a service of this definition doesn’t mount: an earlier version has left them. */
export function unmountedBy(deps: BackupDeps, definition: Definition, backup: Backup) {
  const { services } = versionedStack(deps, definition)
  keepVolumesOf(backup, services)
  const mounted = volumesOf({ services })
  const isMounted = (volume: string) =>
    mounted.includes(volume) || services.keys().some((name) => mayBeImageVolume(name, volume))
  return volumesIn(backup).filter((volume) => !isMounted(volume))
}

type Creating = { subject: Subject; workload: Workload; names: string[]; signal: AbortSignal }

/** Creates volumes that no container of a new service mounts, where those are that it does. */
export async function createUnmounted(
  deps: BackupDeps,
  { subject, workload, names, signal }: Creating,
) {
  const { db } = deps
  if (names.length === 0 || subject.kind !== 'service') return
  pinUnlessPinned(db, workload, serverOf(subject.service))
  const there = whereDataIs(deps, workload)
  for (const name of names) await createEmptyVolume(there, { workload, name, signal })
}
