import type { Snapshot } from '../../git/tools.ts'
import { checkRoom } from '../../runtime/check-room.ts'
import type { Run } from '../context.ts'

/** Updates the mirror, and finds the commit to deploy. */
export async function clone(run: Run): Promise<Snapshot> {
  const { project, deployment, git, keys, config, log, signal } = run
  await checkRoom(config.dataDir, { whose: 'Davit', what: 'a build' })
  const { repositoryUrl: url, branch, requestedCommit } = deployment
  const what = requestedCommit ? requestedCommit.slice(0, 12) : (branch ?? 'the default branch')
  log(`Cloning ${url} (${what})`)
  const history = project.gitDirectory
  const asked = { url, branch, commit: requestedCommit, history, signal, log }
  const snapshot = await git.fetch({ ...keys, ...asked })
  const { hash, author, message } = snapshot.commit
  log(`At commit ${hash.slice(0, 12)} by ${author}: ${message}`)
  return snapshot
}
