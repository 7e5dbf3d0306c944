import { Failure } from '../errors.ts'

export const emptyRepository = (where: string) =>
  new Failure(
    'empty_repository',
    `The repository ${where} has no commit yet.`,
    'Push a commit with a Dockerfile, then deploy again.',
  )

export const unknownCommit = ({ where, commit }: { where: string; commit: string }) =>
  new Failure(
    'unknown_commit',
    `The repository ${where} has no commit ${commit.slice(0, 12)}.`,
    'It may not have been pushed, or a force push removed it: deploy the branch instead.',
  )

export const tagWithoutCommit = ({ where, tag }: { where: string; tag: string }) =>
  new Failure(
    'unknown_branch',
    `The tag “${tag}” of ${where} doesn't name a commit.`,
    'Deploy a branch, or a tag that was set on a commit.',
  )

/** Names the branch or tag that was probably meant; branch null is a HEAD that leads nowhere. */
export function unknownBranch(options: {
  where: string
  branch: string | null
  branches: string[]
}): Failure {
  const { where, branch, branches } = options
  const near = branch === null ? branches : byNearness(branch, branches)
  const few = near.slice(0, 5).join(', ')
  return new Failure(
    'unknown_branch',
    branch === null
      ? `The default branch of ${where} does not exist there.`
      : `The repository ${where} has no branch or tag “${branch}”; the nearest is “${near[0]}”.`,
    `Set the branch to one of its ${branches.length}: ${few}${branches.length > 5 ? ', …' : ''}.`,
  )
}

const byNearness = (name: string, names: string[]) =>
  names
    .map((other) => ({ other, distance: editDistance(name.slice(0, 250), other.slice(0, 250)) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ other }) => other)

/** How many characters to insert, delete or replace to get from one text to the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
