import type { Snapshot } from '../../git/git.ts'
import type { Run } from '../run.ts'
import { checkRoom } from './room.ts'

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
