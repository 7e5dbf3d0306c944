import type { Deployment } from './store.ts'

/** A deployment as programs see it; one that has just been made has no container yet. */
export const deploymentJson = (deployment: Deployment & { containerId?: string | null }) => ({
  id: deployment.id,
  projectId: deployment.projectId,
  environmentId: deployment.environmentId,
  status: deployment.status,
  trigger: deployment.trigger,
  triggeredBy: deployment.triggeredBy,
  rollbackOf: deployment.rollbackOf,
  repositoryUrl: deployment.repositoryUrl,
  branch: deployment.branch,
  commit: {
    hash: deployment.commitHash ?? deployment.requestedCommit,
    author: deployment.commitAuthor,
    message: deployment.commitMessage,
  },
  image: deployment.image,
  containerId: deployment.containerId ?? null,
  url: deployment.url,
  steps: deployment.steps,
  error: deployment.errorCode
    ? {
        step: deployment.errorStep,
        code: deployment.errorCode,
        message: deployment.errorMessage,
        hint: deployment.errorHint,
      }
    : null,
  downtimeMs: deployment.downtimeMs,
  createdAt: deployment.createdAt,
  finishedAt: deployment.finishedAt,
})
