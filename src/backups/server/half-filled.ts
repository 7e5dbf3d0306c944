import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fillingName } from '../../backup/data-dir.ts'
import type { Docker } from '../../docker/index.ts'
import { labelFilter, readLabels } from '../../docker/labels.ts'
import {
  createEmptyVolume,
  removeBackupHelpers,
  removeVolumes,
} from '../../runtime/restored-volumes.ts'
import type { Workload } from '../../runtime/workload.ts'

type Restoring = { dataDir: string; docker: Docker }

/** Stands for an installation whose id isn’t known yet, in labels and at the end of names. */
export const restoringId = (dataDir: string) =>
  `restoring-${new Bun.CryptoHasher('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12)}`

/** In Docker too: the data directory may be removed before the restore is repeated, and its list with it. */
const markOf = (dataDir: string, volume: string) => `${restoringId(dataDir)}-fills-${volume}`

/** Call it before a volume is created: a restore that is killed leaves it incomplete. */
export async function noteFilling(
  { dataDir, docker }: Restoring,
  volume: { workload: Workload; name: string; signal: AbortSignal },
) {
  const list = join(dataDir, fillingName)
  appendFileSync(list, `${volume.name}\n`, { mode: 0o600, flush: true } as object)
  const name = markOf(dataDir, volume.name)
  await createEmptyVolume({ docker, instanceId: restoringId(dataDir) }, { ...volume, name })
}

async function listMarked({ dataDir, docker }: Restoring) {
  const start = markOf(dataDir, '')
  const volumes = await docker.listVolumes({ labels: labelFilter(restoringId(dataDir)) })
  return volumes.flatMap(({ name }) => (name.startsWith(start) ? name.slice(start.length) : []))
}

/**
 * Call it once the data directory is whole, and Davit may write to the volumes. With an id, volumes of another
 * installation stay marked: a new Davit in that directory says nothing about them.
 */
export async function removeMarks({ dataDir, docker }: Restoring, instanceId?: string) {
  const marked = await listMarked({ dataDir, docker })
  const all = marked.length > 0 && instanceId ? await docker.listVolumes() : []
  const others = new Set(
    all.flatMap(({ name, labels }) => (readLabels(labels).instanceId === instanceId ? [] : name)),
  )
  const over = marked.filter((name) => !others.has(name))
  await removeVolumes({ docker }, new Set(over.map((name) => markOf(dataDir, name))))
}

/** Call it when everything is whole. */
export const forgetFilling = (dataDir: string) =>
  rmSync(join(dataDir, fillingName), { force: true })

/** The volumes that a restore into the data directory has left that failed or was killed. */
export async function listHalfFilled({ dataDir, docker }: Restoring) {
  const list = join(dataDir, fillingName)
  const listed = existsSync(list) ? readFileSync(list, 'utf8').split('\n').filter(Boolean) : []
  return new Set([...listed, ...(await listMarked({ dataDir, docker }))])
}

/** With all else that it left. Returns those that stay, as containers use them: what they have is in use. */
export async function removeHalfFilled({ dataDir, docker }: Restoring) {
  await removeHelpers({ dataDir, docker })
  const used = await removeVolumes({ docker }, await listHalfFilled({ dataDir, docker }))
  await removeMarks({ dataDir, docker })
  forgetFilling(dataDir)
  return used
}

/** Containers of restic that still run, its cache and its network. */
export const removeHelpers = ({ dataDir, docker }: Restoring) =>
  removeBackupHelpers(
    { docker, instanceId: restoringId(dataDir) },
    { signal: AbortSignal.timeout(60_000) },
  )
