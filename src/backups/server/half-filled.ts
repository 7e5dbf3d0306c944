import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fillingName, isWhole } from '../../backup/data-dir.ts'
import type { Docker } from '../../docker/index.ts'
import { removeBackupHelpers, removeVolumes } from '../../runtime/restored-volumes.ts'

type Restoring = { dataDir: string; docker: Docker }

/** Stands for an installation whose id isn’t known yet, in labels and at the end of names. */
export const restoringId = (dataDir: string) =>
  `restoring-${new Bun.CryptoHasher('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12)}`

/** Call it before a volume is created: a restore that is killed leaves it incomplete. */
export const noteFilling = (dataDir: string, volume: string) =>
  appendFileSync(join(dataDir, fillingName), `${volume}\n`, { mode: 0o600, flush: true } as object)

/** Call it when everything is whole. */
export const forgetFilling = (dataDir: string) =>
  rmSync(join(dataDir, fillingName), { force: true })

/** Removes what a restore into the data directory has left that failed or was killed. */
export async function removeHalfFilled({ dataDir, docker }: Restoring) {
  await removeHelpers({ dataDir, docker })
  const list = join(dataDir, fillingName)
  if (!existsSync(list)) return
  if (isWhole(dataDir)) return forgetFilling(dataDir) // it was killed just before it did so
  const names = readFileSync(list, 'utf8').split('\n').filter(Boolean)
  await removeVolumes({ docker }, new Set(names))
  rmSync(list)
}

/** Containers of restic that still run, its cache and its network. */
export const removeHelpers = ({ dataDir, docker }: Restoring) =>
  removeBackupHelpers(
    { docker, instanceId: restoringId(dataDir) },
    { signal: AbortSignal.timeout(60_000) },
  )
