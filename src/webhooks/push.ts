import { z } from 'zod'
import { isCommit } from '../git/ref-names.ts'
import type { Provider } from './provider.ts'

/** A push to a branch or a tag, from any provider. */
export type Push = {
  /** Such as `refs/heads/main`. */
  ref: string
  /** What the ref points to now: a commit, or a tag object; zeros when it was deleted. */
  after: string
  /** The repository's default branch, if it was sent. */
  defaultBranch: string | null
  /** The message of the commit that was pushed last. */
  message: string | null
  /** Why it asks to deploy nothing, in a sentence; null when it doesn't. */
  skip: string | null
  /** The provider's name of the pusher; a commit's author isn't verified. */
  pusher: string | null
  /** The changed paths; null when the provider may have left something out. */
  paths: string[] | null
}

/** The branch that was pushed, or null for a tag and the like. */
export const branchOf = (push: Pick<Push, 'ref'>) => nameOf(push, 'refs/heads/')

/** The tag that was pushed, or null for a branch and the like. */
export const tagOf = (push: Pick<Push, 'ref'>) => nameOf(push, 'refs/tags/')

const nameOf = ({ ref }: Pick<Push, 'ref'>, prefix: string) =>
  ref.startsWith(prefix) ? ref.slice(prefix.length) : null

/** A hash of zeros stands for a ref that doesn't exist, not yet or not any more. */
export const isZero = (hash: string) => /^0+$/.test(hash)

/** Checked as a whole: one error is enough. */
const pathList = z
  .custom<string[]>((list) => Array.isArray(list) && list.every((path) => typeof path === 'string'))
  .nullish()

/** A commit of any provider: they share these names. */
const commit = z.object({
  id: z.string(),
  message: z.string().nullish(),
  added: pathList,
  modified: pathList,
  removed: pathList,
})

type Commit = z.infer<typeof commit>

/** The common fields of a push; only GitLab sends no `head_commit`. */
const commonFields = {
  ref: z.string().min(1).max(1000),
  before: z.string().nullish(),
  after: z.string().refine(isCommit),
  commits: z.array(commit).nullish(),
  head_commit: commit.nullish(),
}

type Payload<Fields extends z.ZodRawShape> = z.output<z.ZodObject<typeof commonFields>> &
  z.output<z.ZodObject<Fields>>

/** The provider's part: `total` is the number of commits, if known. */
type Facts = {
  defaultBranch: string | null | undefined
  pusher: string | null | undefined
  total: number | null | undefined
  /** The push option `ci.skip`. */
  skipped?: boolean
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
      const facts = factsOf({ ...push, commits })
      const { defaultBranch = null, pusher = null, total, skipped = false } = facts
      const message = head_commit?.message ?? messageOf(commits, after)
      return {
        ref,
        after,
        defaultBranch,
        message,
        skip: skipped ? 'It was pushed with the option ci.skip.' : skipOf(message ?? ''),
        pusher,
        paths: isZero(before ?? '0') ? null : pathsOf(commits, { total: total ?? Infinity }),
      }
    },
  }
}

/** A commit with this many files may be truncated. */
const maxFiles = 3000

/** Characters of paths that are compared with watched paths. */
const maxPathsSize = 500_000

/**
 * The changed paths of a push, or null when they are incomplete: commits are
 * missing, or one lists no file, as providers do for long lists. Also null for a huge push.
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

/** What GitHub, GitLab, Gitea and others of their kind take for a wish to start nothing. */
const skipMark =
  /\[(?:skip[ _-](?:ci|cd|deploy|actions|davit)|(?:ci|cd|deploy|actions|davit)[ _-]skip|no[ _-](?:ci|cd|deploy))\]|\*\*\*NO_CI\*\*\*|^skip-checks: ?true\s*$/im

function skipOf(message: string): string | null {
  const [mark] = skipMark.exec(message) ?? []
  return mark === undefined ? null : `The commit message contains ${mark.trim()}.`
}
