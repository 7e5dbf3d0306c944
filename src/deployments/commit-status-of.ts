import { originOf } from '../config.ts'
import type { Config } from '../config.ts'
import type { CommitStatus } from '../git/providers/provider.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import type { Job } from './store.ts'

/** Of a description; GitHub takes no more. */
const maxLength = 140

/** What the provider of its commit is told; null while there is nothing to tell, or no one to tell it to. */
export function commitStatusOf(
  { project, environment, deployment }: Job,
  config: Config,
): CommitStatus | null {
  const commit = deployment.commitHash ?? deployment.requestedCommit
  const isOfSource = project.sourceId && deployment.repositoryUrl === project.repositoryUrl
  const result = resultOf(deployment)
  if (!commit || !isOfSource || !result) return null
  return {
    commit,
    state: result.state,
    context: `davit/${environment.name}`,
    description: shorten(result.description),
    url:
      (result.state === 'success' && deployment.url) ||
      `${originOf(config)}${deploymentPath(deployment)}`,
  }
}

function resultOf({ status, errorStep, errorMessage, url, containerId }: Job['deployment']) {
  switch (status) {
    case 'cloning':
    case 'building':
    case 'deploying':
      return { state: 'pending', description: 'Davit deploys it' } as const
    case 'running':
      return { state: 'success', description: url ? `Running at ${url}` : 'Running' } as const
    case 'failed': {
      const description = [errorStep, errorMessage].filter(Boolean).join(': ')
      return { state: 'failure', description } as const
    }
    case 'cancelled':
      return { state: 'failure', description: 'Cancelled' } as const
    case 'stopped':
      return { state: 'success', description: 'It ran, and was stopped' } as const
    case 'superseded':
      return containerId
        ? ({ state: 'success', description: 'It ran until a newer one took its place' } as const)
        : ({ state: 'failure', description: 'A newer deployment took its place' } as const)
    case 'pending':
      return null
  }
}

const shorten = (text: string) =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).trimEnd()}…` : text
