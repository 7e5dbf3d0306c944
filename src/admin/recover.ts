import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import type { RemovalDeps } from './remove-user.ts'
import { listUsersBeingDeleted } from './store.ts'

/** Resumes removals that the last process didn't finish. */
export async function recoverRemovals(deps: RemovalDeps, { signal }: { signal: AbortSignal }) {
  for (const user of listUsersBeingDeleted(deps.db)) {
    const options = { signal, failed: 'a user was not removed', fields: { user: user.id } }
    const { removeUser } = await import('./remove-user.ts')
    await retryWhileEngineDown(deps.docker, options, () => removeUser(deps, user))
  }
}
