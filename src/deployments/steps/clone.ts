import type { Snapshot } from '../../git/git.ts'
import { leastFree, roomHint, spaceOf } from '../../platform/disk-space.ts'
import { Failure } from '../../platform/errors.ts'
import { bytes } from '../../web/units.ts'
import type { Run } from '../run.ts'

/** Updates the repository's mirror and finds the commit to deploy. */
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
 * Refuses to start on a nearly full disk: a full one would stop the apps' databases and Davit. A
 * disk that can't be checked from here is left to the engine.
 */
export async function checkRoom(folder: string, whose: string) {
  const space = await spaceOf(folder)
  if (!space || space.free >= leastFree(space)) return
  throw new Failure(
    'low_disk',
    `The disk of ${whose} is too full for a build: ${bytes(space.free)} are free, but ${bytes(leastFree(space))} are needed.`,
    roomHint,
  )
}
