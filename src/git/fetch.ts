import { Failure } from '../platform/errors.ts'
import { allEnded } from '../platform/pause.ts'
import type { GitTools, Log, Snapshot } from './tools.ts'
import { withMirror } from './mirror.ts'
import { isCommit, refuseBranch } from './ref-names.ts'
import {
  connectRemote,
  explained,
  findRemoteHead,
  listRemoteRefs,
  locationOf,
  type Remote,
  runRemoteGit,
} from './remote.ts'
import { tagRefs } from './git-directory.ts'
import type { RefType } from './ref-pattern.ts'
import { GitError, runGit } from './run.ts'
import { underSize } from './size-watch.ts'
import { tagWithoutCommit, unknownBranch, unknownCommit } from './unknown-ref.ts'

type FetchTarget = {
  branch: string | null
  /** Null for a branch or, if there is none of the name, a tag. With pull, `branch` is a whole ref. */
  refType?: RefType | 'pull' | null
  commit: string | null
  /** Fetches earlier commits and all tags too. */
  history?: boolean
  signal: AbortSignal
  log: Log
}

/** Fetches one commit into the repository's mirror: the tip of a branch, a tag's commit, or an exact one. */
export async function fetchSnapshot(
  tools: GitTools,
  options: FetchTarget & { url: string },
): Promise<Snapshot> {
  refuseOddNames(options)
  const commit = options.commit?.toLowerCase() ?? null
  return withSource(tools, { ...options, commit }, async (source) => {
    const { branch, refType = null, revision } = await fetchWanted(source)
    const { mirror, remote, history = false } = source
    const commit = await readCommit(source, revision)
    return { mirror, url: remote.url.href, branch, refType, commit, hasHistory: history }
  })
}

/** Fetches a commit whose branch doesn't matter, such as a submodule's. */
export async function fetchCommit(
  tools: GitTools,
  options: { url: string; commit: string; history?: boolean; signal: AbortSignal; log: Log },
): Promise<{ mirror: string; href: string }> {
  return withSource(tools, { ...options, branch: null }, async (source) => {
    await fetchExactly(source, { commit: options.commit, branch: null })
    return { mirror: source.mirror, href: source.remote.url.href }
  })
}

/** Connects to a repository and works on its mirror; git's errors become Failures. */
async function withSource<T>(
  tools: GitTools,
  options: FetchTarget & { url: string },
  work: (source: Source) => Promise<T>,
): Promise<T> {
  const remote = await connectRemote(tools, options)
  const { history = false, signal, log } = options
  try {
    return await withMirror(
      tools,
      { origin: { href: remote.url.href, keyId: remote.keys.id, history }, signal, log },
      async (mirror) => {
        const source = { ...options, tools, remote, mirror }
        const result = await work(source)
        if (history) await fetchRef(source, { from: allTags, to: `${tagRefs}*` })
        return result
      },
    )
  } catch (error) {
    throw explained(error, remote)
  }
}

const allTags = 'refs/tags/*'

type Source = FetchTarget & { tools: GitTools; remote: Remote; mirror: string }

type Wanted = { branch: string; refType?: FetchTarget['refType']; revision: string }

async function fetchWanted(source: Source): Promise<Wanted> {
  if (source.commit) {
    const branch = source.branch ?? (await findHead(source)).branch
    await fetchExactly(source, { commit: source.commit, branch })
    return { branch, refType: source.refType, revision: source.commit }
  }
  if (source.branch === null) return { ...(await fetchHead(source)), refType: 'branch' }
  const refType = await fetchNamed(source, source.branch)
  return { branch: source.branch, refType, revision: localRef(source.branch) }
}

/** A fetch doesn't report HEAD's branch, so that is requested in parallel; both must be the same commit. */
async function fetchHead(source: Source): Promise<{ branch: string; revision: string }> {
  const local = localRef('HEAD')
  const [{ branch, hash }] = await allEnded([
    findHead(source),
    fetchRef(source, { from: 'HEAD', to: local }),
  ])
  if ((await readRef(source, local)) === hash) return { branch, revision: local }
  await fetchNamed(source, branch)
  return { branch, revision: localRef(branch) }
}

async function findHead(source: Source) {
  const head = await findRemoteHead(source.tools, source)
  if (head) return head
  const listing = await listRemoteRefs(source.tools, { ...source, kinds: ['heads'] })
  const where = locationOf(source.remote)
  throw await unknownBranch({ where, branch: null, listing, signal: source.signal })
}

/** The tip of a branch, or the commit of a tag if no branch has this name, or as `refType` says. */
async function fetchNamed(source: Source, name: string): Promise<RefType | 'pull'> {
  const { refType } = source
  const to = localRef(name)
  if (refType === 'pull') {
    await fetchRef(source, { from: name, to })
    return 'pull'
  }
  if (refType !== 'tag' && (await fetchIfThere(source, { from: branchRef(name), to })))
    return 'branch'
  const where = locationOf(source.remote)
  if (refType !== 'branch' && (await fetchIfThere(source, { from: `refs/tags/${name}`, to }))) {
    if (!(await hasCommit(source, to))) throw tagWithoutCommit({ where, tag: name })
    source.log(`${name} is a tag.`)
    return 'tag'
  }
  const listing = await listRemoteRefs(source.tools, { ...source, kinds: ['heads', 'tags'] })
  throw await unknownBranch({ where, branch: name, listing, signal: source.signal })
}

/** False when the remote has no such ref. */
async function fetchIfThere(source: Source, what: { from: string; to: string }) {
  try {
    await fetchRef(source, what)
    return true
  } catch (error) {
    if (error instanceof GitError && error.says(/couldn't find remote ref/)) return false
    throw error
  }
}

/** A commit by its hash; if the server only serves branches, the branch with all its history. */
async function fetchExactly(source: Source, wanted: { commit: string; branch: string | null }) {
  const { commit, branch } = wanted
  const to = branch === null ? `refs/davit/commits/${commit}` : localRef(branch)
  if (!source.history && (await readRef(source, to)) === commit) return
  try {
    return await fetchRef(source, { from: commit, to })
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    if (error.says(/not our ref|no such remote ref|couldn't find remote ref/)) {
      throw unknownCommit({ where: locationOf(source.remote), commit })
    }
    if (!error.says(/unadvertised object|does not allow request/)) throw error
  }
  const whole = { ...source, history: true }
  if (branch !== null) await fetchNamed(whole, branch)
  else await fetchRef(whole, { from: 'refs/heads/*', to: 'refs/davit/all/*' })
  if (!(await hasCommit(source, commit))) {
    throw unknownCommit({ where: locationOf(source.remote), commit })
  }
}

async function fetchRef(source: Source, what: { from: string; to: string }) {
  const { tools, remote, mirror, history } = source
  const depth = history ? 2_147_483_647 : 1
  // git fails without a message if it has no refs to deepen.
  const isTags = what.from === allTags
  const watched = { mirror, where: locationOf(remote), limits: tools.limits, signal: source.signal }
  await underSize(watched, (signal) =>
    runRemoteGit(tools, remote, {
      command: 'fetch',
      options: [
        ...['--progress', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'],
        ...['--update-shallow', ...(isTags ? [] : [`--depth=${depth}`])],
        '--prune', // A branch may now have the name of a former folder of branches, or the reverse.
      ],
      values: [`+${what.from}:${what.to}`],
      // Prune old objects while this process holds the mirror, not in one that outlives it.
      config: ['gc.autoDetach=false', 'gc.pruneExpire=1.day.ago'],
      mirror,
      log: finishedLines(source.log),
      signal,
    }),
  )
}

/** The author and the message may be huge, so git is ended after enough output. */
async function readCommit(source: Source, revision: string): Promise<Snapshot['commit']> {
  const output = await runGit(source.tools.setup, {
    command: 'log',
    options: [
      '-1',
      '--no-show-signature',
      '--encoding=UTF-8',
      '--format=%H%x00%<(100,trunc)%an%x00%B',
    ],
    values: [revision],
    mirror: source.mirror,
    enough: 16 * 1024,
    signal: source.signal,
  })
  const [hash = '', author = '', body = ''] = output.toString().split('\0')
  const [message = ''] = body.trim().split('\n')
  return { hash, author: beginningOf(author.trim()), message: beginningOf(message) }
}

const beginningOf = (text: string) => text.slice(0, 300).toWellFormed()

async function hasCommit(source: Source, commit: string): Promise<boolean> {
  const { tools, mirror, signal } = source
  const values = [`${commit}^{commit}`]
  return runGit(tools.setup, { command: 'cat-file', options: ['-e'], values, mirror, signal }).then(
    () => true,
    (error) => {
      if (error instanceof GitError) return false
      throw error
    },
  )
}

/** A ref is written once all its objects have arrived, so the commit that it names is complete. */
const readRef = (source: Source, ref: string): Promise<string | null> =>
  Bun.file(`${source.mirror}/${ref}`)
    .text()
    .then(
      (text) => text.trim(),
      () => null,
    )

// A detached HEAD has no branch: it is fetched as HEAD.
const branchRef = (branch: string) => (branch === 'HEAD' ? 'HEAD' : `refs/heads/${branch}`)

/**
 * A branch and a tag of the same name never exist here at once. The name is hashed since git keeps refs as
 * files in folders, and `release/v2` may replace `release`.
 */
const localRef = (branch: string) =>
  `refs/davit/heads/${new Bun.CryptoHasher('sha256').update(branch).digest('hex')}`

/** Logs the last line of each progress, without the hundred steps before it. */
const finishedLines = (log: Log) => (line: string) => {
  const isStep = /:\s+\d+%? \(|:\s+\d+(, |$)/.test(line) && !/done\.?\s*$/.test(line)
  const isReport = /^(remote|Receiving objects|Resolving deltas):/.test(line)
  if (isReport && !isStep) log(line.trimEnd())
}

function refuseOddNames({ branch, commit }: FetchTarget) {
  const refused = branch === null ? null : refuseBranch(branch)
  if (refused) throw new Failure('unknown_branch', refused, 'Choose another branch.')
  if (commit !== null && !isCommit(commit)) {
    const hint = 'Enter the full hash: 40 or 64 hexadecimal digits.'
    throw new Failure('unknown_commit', 'This isn’t a commit hash.', hint)
  }
}
