import { isRefPattern, refMatcher } from '../git/ref-pattern.ts'
import type { NamedRef, RefType } from '../git/ref-pattern.ts'
import { invalidField } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import type { Environment } from './store.ts'

type Target = {
  environment: Pick<Environment, 'branch' | 'tags'>
  project: Pick<Project, 'branch'>
}

/** A name, a pattern, or null for the remote's HEAD; undefined when it only follows tags. */
const followedBranch = ({ environment: { branch, tags }, project }: Target) =>
  branch ?? (tags === null ? project.branch : undefined)

/** True when a deployment must say which branch or tag it is of. */
export function needsRef(target: Target): boolean {
  const branch = followedBranch(target)
  return branch === undefined || (branch !== null && isRefPattern(branch))
}

/** What a deployment gets that names none; null for the remote's HEAD. */
export const defaultBranch = (target: Target): string | null =>
  needsRef(target) ? null : (followedBranch(target) ?? null)

/** True when a push of the ref is one for the environment. A plain name is a branch's or a tag's. */
export function follows(
  target: Target,
  { type, name, isDefault }: NamedRef & { isDefault: boolean },
) {
  const { tags } = target.environment
  if (type === 'tag' && tags !== null && refMatcher(tags)(name)) return true
  const branch = followedBranch(target)
  if (branch === undefined) return false
  if (branch === null) return type === 'branch' && isDefault
  return isRefPattern(branch) ? type === 'branch' && refMatcher(branch)(name) : branch === name
}

/** What a deployment by hand chooses from: everything where no pattern says which. */
export function patternsOf(target: Target): Record<RefType, string | null> {
  const { tags } = target.environment
  if (tags === null && !needsRef(target)) return { branch: '**', tag: '**' }
  return { branch: followedBranch(target) ?? null, tag: tags }
}

/** Such as “release/*, tags v*”. */
export function followedInWords(target: Target): string {
  const branch = followedBranch(target)
  const { tags } = target.environment
  return [
    ...(branch === undefined ? [] : [branch ?? 'default branch']),
    ...(tags === null ? [] : [`tags ${tags}`]),
  ].join(', ')
}

/** Throws where there is no repository that has it. */
export function refuseUnfollowable(
  { image }: Pick<Project, 'image'>,
  asked: { branch?: string | null | undefined; tags?: string | null | undefined },
) {
  for (const field of ['branch', 'tags'] as const)
    if (image !== null && asked[field])
      throw invalidField(field, 'can’t be set: this project deploys an image.')
}

/** Throws where no provider can say whether the checks of a commit passed. */
export function refuseUnaskable(
  { sourceId, repository }: Pick<Project, 'sourceId' | 'repository'>,
  { waitForChecks }: { waitForChecks?: boolean | null | undefined },
) {
  if (!waitForChecks || (sourceId !== null && repository !== null)) return
  throw invalidField(
    'waitForChecks',
    'needs a git source, which is asked for the checks. Choose one in the settings of the project.',
  )
}
