import type { Snapshot } from '../../git/git.ts'
import { leastFree, roomHint, spaceOf } from '../../platform/disk-space.ts'
import { Failure } from '../../platform/errors.ts'
import { bytes } from '../../web/units.ts'
import type { Run } from '../run.ts'

/** Brings the repository's mirror up to date and finds the commit to deploy. */
export async function clone(run: Run): Promise<Snapshot> {
  const { deployment, git, keys, config, log, signal } = run
  await checkRoom(config.dataDir, 'Davit')
  const { repositoryUrl: url, branch, requestedCommit } = deployment
  const what = requestedCommit ? requestedCommit.slice(0, 12) : (branch ?? 'the default branch')
  log(`Cloning ${url} (${what})`)
  const snapshot = await git.fetch({ ...keys, url, branch, commit: requestedCommit, signal, log })
  const { hash, author, message } = snapshot.commit
  log(`At commit ${hash.slice(0, 12)} by ${author}: ${message}`)
  return snapshot
}

/**
 * Begins nothing on a disk that it could fill, which would stop the databases of the apps, and Davit.
 * A disk that can't be seen from here is left to the engine.
 */
export async function checkRoom(folder: string, whose: string) {
  const space = await spaceOf(folder)
  if (!space || space.free >= leastFree(space)) return
  throw new Failure(
    'low_disk',
    `The disk of ${whose} is too full to build on: ${bytes(space.free)} are free, and ${bytes(leastFree(space))} must be.`,
    roomHint,
  )
}
