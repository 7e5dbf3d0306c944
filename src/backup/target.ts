import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockDataDir } from '../db/instance-lock.ts'
import { Failure } from '../platform/errors.ts'

/** Where a backup is unpacked and tried: while it is there, nothing in the data directory counts. */
const stagingName = 'restoring'

/** What may lie in a data directory that is as good as empty. */
const nothing = /^(davit\.lock(-.*)?|lost\+found)$/

/**
 * Prepares an empty data directory for a restore: `work` fills the staging directory, whose files then
 * move to their places, the database last. When anything fails, all is as it was before.
 */
export async function fillDataDir<Result>(
  dataDir: string,
  work: (staging: string) => Promise<Result>,
): Promise<Result> {
  const staging = join(dataDir, stagingName)
  const isNew = !existsSync(dataDir)
  makeDirectory(dataDir)
  const hold = lockDataDir(dataDir)
  const undo = () => {
    hold.close()
    for (const path of isNew ? [dataDir] : [staging, join(dataDir, 'davit.lock')])
      rmSync(path, { recursive: true, force: true })
  }
  try {
    refuseFull(dataDir)
    clear(dataDir, staging)
    makeDirectory(staging)
    const result = await work(staging)
    for (const name of readdirSync(staging).sort(databaseLast))
      renameSync(join(staging, name), join(dataDir, name))
    rmSync(staging, { recursive: true })
    hold.close()
    return result
  } catch (error) {
    undo()
    throw error
  }
}

/** A restore that was killed left parts of a database: they must not be taken for one. */
export function refuseHalfRestored(dataDir: string) {
  if (!existsSync(join(dataDir, stagingName))) return
  throw new Failure(
    'restore_unfinished',
    `A restore into ${dataDir} was interrupted, and what is there is not whole.`,
    'Run davit restore again; it begins anew.',
  )
}

/** Ours to begin anew in only when it is empty, or left by a restore that was killed. */
function refuseFull(dataDir: string) {
  const found = readdirSync(dataDir).filter((name) => !nothing.test(name))
  if (found.length === 0 || found.includes(stagingName)) return
  throw new Failure(
    'data_dir_not_empty',
    `The data directory ${dataDir} is not empty: ${found.slice(0, 3).join(', ')} ${found.length > 3 ? 'and more are' : 'is'} there.`,
    'Move it away, or set DAVIT_DATA_DIR to another one. A restore overwrites nothing.',
  )
}

function clear(dataDir: string, staging: string) {
  if (!existsSync(staging)) return
  for (const name of readdirSync(dataDir).filter((name) => !nothing.test(name)))
    rmSync(join(dataDir, name), { recursive: true, force: true })
}

const databaseLast = (a: string, b: string) => Number(a === 'davit.db') - Number(b === 'davit.db')

function makeDirectory(path: string) {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new Failure(
      'data_dir_unusable',
      `The data directory ${path} can not be made (${(cause as NodeJS.ErrnoException).code}).`,
      'Set DAVIT_DATA_DIR to a directory that the user who runs Davit may write to.',
      { cause },
    )
  }
}
