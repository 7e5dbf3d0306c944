import type { Db } from '../db/index.ts'
import { getPreview } from '../environments/preview-store.ts'
import type { Environment } from '../environments/store.ts'
import { AppError } from '../platform/errors.ts'

type RefQuery = { [Field in 'branch' | 'tag' | 'commit']?: string | null | undefined }

/**
 * Of a fork's pull request: only the commit that was approved is ever fetched. Undefined for any other
 * environment.
 */
export function approvedRef(db: Db, { id, name }: Environment, { branch, tag, commit }: RefQuery) {
  const preview = getPreview(db, id)
  if (!preview?.isFork) return undefined
  const { ref, approvedCommit, headCommit } = preview
  if (approvedCommit === null || (commit && commit !== approvedCommit))
    throw new AppError(
      'conflict',
      `${name} is of a fork, so its commits must be approved first. The newest one is ${headCommit.slice(0, 12)}.`,
    )
  if (branch || tag)
    throw new AppError('conflict', `${name} is of a fork, so only its approved commit is deployed.`)
  return { branch: ref, refType: 'pull' as const, requestedCommit: approvedCommit }
}
