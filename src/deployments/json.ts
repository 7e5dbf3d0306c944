import type { Deployment } from './store.ts'

/** A new deployment has no container yet. */
export function deploymentJson(deployment: Deployment & { containerId?: string | null }) {
  const { commitHash, commitAuthor, commitMessage, requestedCommit, ...uncommitted } = deployment
  const { errorStep, errorCode, errorMessage, errorHint, commitStatus, ...shown } = uncommitted
  return {
    ...shown,
    rollbackOf: shown.trigger === 'rollback' ? shown.imageOf : null,
    containerId: shown.containerId ?? null,
    commit: { hash: commitHash ?? requestedCommit, author: commitAuthor, message: commitMessage },
    error: errorCode
      ? { step: errorStep, code: errorCode, message: errorMessage, hint: errorHint }
      : null,
  }
}
