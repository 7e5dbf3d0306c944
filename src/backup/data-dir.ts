import { accessSync, constants, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../platform/errors.ts'

/** Where a backup is unpacked and verified: while it exists, the data directory is incomplete. */
export const stagingName = 'restoring'

/** Lists the volumes that a restore fills, one a line, until everything is whole. */
export const fillingName = 'restoring-volumes'

/** A killed restore left incomplete databases, which must not be used. */
export function refuseHalfRestored(dataDir: string) {
  const isHalf = existsSync(join(dataDir, stagingName))
  if (!isHalf && (isWhole(dataDir) || !existsSync(join(dataDir, fillingName))))
    return rmSync(join(dataDir, fillingName), { force: true })
  throw new Failure(
    'restore_unfinished',
    `A restore into ${dataDir} was interrupted, so the data directory is incomplete.`,
    'Run davit restore again; it starts from the beginning.',
  )
}

/** True when a restore into it has ended: the database comes last. */
export const isWhole = (dataDir: string) =>
  existsSync(join(dataDir, 'davit.db')) && !existsSync(join(dataDir, stagingName))

export function openDataDir(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new Failure(
      'data_dir_unusable',
      `The data directory ${path} can’t be used (${(cause as NodeJS.ErrnoException).code}).`,
      'Set DAVIT_DATA_DIR to a directory that the user who runs Davit may write to.',
      { cause },
    )
  }
}
