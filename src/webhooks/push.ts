import { z } from 'zod'
import { isCommit } from '../git/ref-names.ts'
import type { Provider } from './provider.ts'

/** A push to a branch or a tag, whichever provider told of it. */
export type Push = {
  /** Such as `refs/heads/main`. */
  ref: string
  /** What the ref points at now: a commit, or the object of a tag; zeros when it was deleted. */
  after: string
  /** The repository's own default branch, when it was told. */
  defaultBranch: string | null
  /** The message of the commit that was pushed last. */
  message: string | null
  /** Who pushed, as the provider names them; the author of a commit is whoever wrote it says. */
  pusher: string | null
  /** What its commits touch; null where the provider may have left something out. */
  paths: string[] | null
}

/** The branch that was pushed, or null for a tag and the like. */
export const branchOf = (push: Pick<Push, 'ref'>) => nameOf(push, 'refs/heads/')

/** The tag that was pushed, or null for a branch and the like. */
export const tagOf = (push: Pick<Push, 'ref'>) => nameOf(push, 'refs/tags/')

const nameOf = ({ ref }: Pick<Push, 'ref'>, prefix: string) =>
  ref.startsWith(prefix) ? ref.slice(prefix.length) : null

/** Hashes of zeros stand for a ref that is not there: not yet, or not any more. */
export const isZero = (hash: string) => /^0+$/.test(hash)

/** Checked at once: of a list that is none, one fault is enough. */
const pathList = z
  .custom<string[]>((list) => Array.isArray(list) && list.every((path) => typeof path === 'string'))
  .nullish()

/** A commit of any of the providers: they share these names. */
const commit = z.object({
  id: z.string(),
  message: z.string().nullish(),
  added: pathList,
  modified: pathList,
  removed: pathList,
})

type Commit = z.infer<typeof commit>

/** What the push of every provider has; GitLab alone sends no `head_commit`. */
const commonFields = {
  ref: z.string().min(1).max(1000),
  before: z.string().nullish(),
  after: z.string().refine(isCommit),
  commits: z.array(commit).nullish(),
  head_commit: commit.nullish(),
}

type Payload<Fields extends z.ZodRawShape> = z.output<z.ZodObject<typeof commonFields>> &
  z.output<z.ZodObject<Fields>>

/** What is left to each provider: `total` is how many commits there are, where that is known. */
type Facts = {
  defaultBranch: string | null | undefined
  pusher: string | null | undefined
  total: number | null | undefined
}

/** Reads the push of a provider that has these fields too. */
export function pushReader<Fields extends z.ZodRawShape>(
  fields: Fields,
  factsOf: (payload: Payload<Fields> & { commits: Commit[] }) => Facts,
): Pick<Provider, 'members' | 'readPush'> {
  const schema = z.object({ ...commonFields, ...fields })
  return {
    members: Object.keys(schema.shape),
    readPush(payload) {
      const push = schema.safeParse(payload).data as Payload<Fields> | undefined
      if (!push) return null
      const { ref, after, before, head_commit } = push
      const commits = push.commits ?? []
      const { defaultBranch = null, pusher = null, total } = factsOf({ ...push, commits })
      return {
        ref,
        after,
        defaultBranch,
        message: head_commit?.message ?? messageOf(commits, after),
        pusher,
        paths: isZero(before ?? '0') ? null : pathsOf(commits, { total: total ?? Infinity }),
      }
    },
  }
}

/** A commit that names so many files may have been cut short. */
const maxFiles = 3000

/** Characters of paths that are compared with what is watched. */
const maxPathsSize = 500_000

/**
 * The paths that a push touches, or null when they are not all there: some commits were left out, or
 * one lists no file, as providers do where the list would be long. Nor are those of a push beyond measure.
 */
function pathsOf(commits: Commit[], { total }: { total: number }) {
  if (commits.length === 0 || commits.length < total) return null
  const touched = commits.map(({ added, modified, removed }) =>
    [added, modified, removed].flatMap((paths) => paths ?? []),
  )
  if (touched.some(({ length }) => length === 0 || length >= maxFiles)) return null
  const paths = [...new Set(touched.flat())]
  return paths.reduce((size, path) => size + path.length, 0) > maxPathsSize ? null : paths
}

/** The message of the commit at the head of the push. */
const messageOf = (commits: Commit[], head: string) =>
  (commits.find(({ id }) => id === head) ?? commits.at(-1))?.message ?? null
