import { Failure } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import { nearest } from './nearest.ts'

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
    'It may not have been pushed, or a force push removed it. Deploy the branch instead.',
  )

export const tagWithoutCommit = ({ where, tag }: { where: string; tag: string }) =>
  new Failure(
    'unknown_branch',
    `The tag “${tag}” of ${where} doesn’t name a commit.`,
    'Deploy a branch, or a tag that was set on a commit.',
  )

/** Suggests the branch or tag that was probably meant. A null branch is a HEAD that names none. */
export async function unknownBranch({
  where,
  branch,
  listing,
  signal,
}: {
  where: string
  branch: string | null
  listing: string
  signal: AbortSignal
}): Promise<Failure> {
  const unknown = (nearest: string, hint: string) =>
    new Failure(
      'unknown_branch',
      branch === null
        ? `The default branch of ${where} does not exist there.`
        : `The repository ${where} has no branch or tag “${branch}”${nearest}.`,
      hint,
    )
  const tooLong = () => unknown('', 'Set the branch to an existing one.')
  const { count, few } = await parse<typeof nearestRefs>('nearestRefs', [listing, branch], {
    tooLong,
    signal,
  })
  if (count === 0) return emptyRepository(where)
  if (count === 1) return unknown(`; it only has “${few[0]}”`, `Set the branch to ${few[0]}.`)
  const some = `${few.join(', ')}${count > few.length ? ', …' : ''}`
  return unknown(`; the nearest is “${few[0]}”`, `Set the branch to one of its ${count}: ${some}.`)
}

/** Parses the output of `git ls-remote`. Call it through `parse`. */
export function nearestRefs(listing: string, wanted: string | null) {
  const names = Array.from(listing.matchAll(/\trefs\/(?:heads|tags)\/(.+)$/gm), ([, name]) => name!)
  const sorted = wanted === null ? names : nearest(wanted, names)
  return { count: names.length, few: sorted.slice(0, 5) }
}
