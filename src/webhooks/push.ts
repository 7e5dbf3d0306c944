import { z } from 'zod'
import { isCommit } from '../git/ref-names.ts'

export type Push = {
  /** Such as `refs/heads/main`. */
  ref: string
  /** The commit or tag object that the ref points to now; zeros after a deletion. */
  after: string
  /** The commit of a tag, if the provider sends it; null otherwise. */
  tagged: string | null
  defaultBranch: string | null
  message: string | null
  /** The reason, as a sentence, when the push asks for no deployment; otherwise null. */
  skip: string | null
  /** As named by the provider, which verifies it, unlike a commit's author. */
  pusher: string | null
  /** The changed paths; null when the list may be incomplete. */
  paths: string[] | null
}

export const branchOf = (push: Pick<Push, 'ref'>) => nameOf(push, 'refs/heads/')

export const tagOf = (push: Pick<Push, 'ref'>) => nameOf(push, 'refs/tags/')

const nameOf = ({ ref }: Pick<Push, 'ref'>, prefix: string) =>
  ref.startsWith(prefix) ? ref.slice(prefix.length) : null

/** Zeros stand for a ref that doesn't exist yet, or not any more. */
export const isZero = (hash: string) => /^0+$/.test(hash)

/** Validated as a whole, so that a long list yields one error only. */
const pathList = z
  .custom<string[]>((list) => Array.isArray(list) && list.every((path) => typeof path === 'string'))
  .nullish()

/** All providers share these names. */
const commit = z.object({
  id: z.string(),
  message: z.string().nullish(),
  added: pathList,
  modified: pathList,
  removed: pathList,
})

type Commit = z.infer<typeof commit>

/** GitLab alone sends no `head_commit`, but `checkout_sha`. */
const commonFields = {
  ref: z.string().min(1).max(1000),
  before: z.string().nullish(),
  after: z.string().refine(isCommit),
  commits: z.array(commit).nullish(),
  head_commit: commit.nullish(),
  checkout_sha: z.string().nullish().catch(null),
}

type Payload<Fields extends z.ZodRawShape> = z.output<z.ZodObject<typeof commonFields>> &
  z.output<z.ZodObject<Fields>>

/** `total` is the number of commits, if the provider reports it. */
type Facts = {
  defaultBranch: string | null | undefined
  pusher: string | null | undefined
  total: number | null | undefined
  /** True with the push option `ci.skip`. */
  skipped?: boolean
}

export function pushReader<Fields extends z.ZodRawShape>(
  fields: Fields,
  /** Null for a body that isn't a push after all. */
  factsOf: (payload: Payload<Fields> & { commits: Commit[] }) => Facts | null,
): { members: string[]; readPush: (payload: object) => Push | null } {
  const schema = z.object({ ...commonFields, ...fields })
  return {
    members: Object.keys(schema.shape),
    readPush(payload) {
      const push = schema.safeParse(payload).data as Payload<Fields> | undefined
      if (!push) return null
      const { ref, after, before, head_commit } = push
      const commits = push.commits ?? []
      const facts = factsOf({ ...push, commits })
      if (!facts) return null
      const { defaultBranch = null, pusher = null, total, skipped = false } = facts
      const message = head_commit?.message ?? messageOf(commits, after)
      const tagged = head_commit?.id ?? push.checkout_sha ?? ''
      return {
        ref,
        after,
        tagged: isCommit(tagged) ? tagged : null,
        defaultBranch,
        message,
        skip: skipped ? 'It was pushed with the option ci.skip.' : skipOf(message ?? ''),
        pusher,
        paths: isZero(before ?? '0') ? null : pathsOf(commits, { total: total ?? Infinity }),
      }
    },
  }
}

/** The list of files may be cut off at this length. */
const maxFiles = 3000

/** In characters. With more, paths aren't compared with watched paths. */
const maxPathsSize = 500_000

/**
 * Null when the changed paths are incomplete: commits are missing, or one lists no files, as providers do for
 * long lists. Also null for a huge push.
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

const messageOf = (commits: Commit[], head: string) =>
  (commits.find(({ id }) => id === head) ?? commits.at(-1))?.message ?? null

/** The marks by which GitHub, GitLab, Gitea and others skip a build. */
const skipMark =
  /\[(?:skip[ _-](?:ci|cd|deploy|actions|davit)|(?:ci|cd|deploy|actions|davit)[ _-]skip|no[ _-](?:ci|cd|deploy))\]|\*\*\*NO_CI\*\*\*|^skip-checks: ?true\s*$/im

function skipOf(message: string): string | null {
  const [mark] = skipMark.exec(message) ?? []
  return mark === undefined ? null : `The commit message contains ${mark.trim()}.`
}

/** Makes untrusted text one line that can be stored and shown. */
export const plain = (text: string, max: number) =>
  text
    .slice(0, max)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
