import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Lookup } from '../platform/hosts.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import { archiveContext, prepareContext } from './context.ts'
import { openDirectory } from './directory.ts'
import { readDockerfile } from './context-files.ts'
import type { ContextOptions } from './context.ts'
import { looksFolder, readTip } from './tip.ts'
import { gitDirectories } from './git-directory.ts'
import { fetchSnapshot } from './fetch.ts'
import { keyDirectory } from './keys.ts'
import type { Keys } from './keys.ts'
import { pathsOf, removeMirror } from './mirror.ts'
import { listBranches, listRefs } from './remote.ts'
import { runGit } from './run.ts'
import type { GitSetup } from './run.ts'
import type { BuildContext, GitTools, Log, Snapshot } from './tools.ts'
import { importUpload } from './upload.ts'

export type Git = ReturnType<typeof connectGit>

export type GitOptions = {
  dataDir: string
  allowHosts: string[]
  allowLocalRepos: boolean
  /** Maximum bytes of a repository on disk, and of a build's files. */
  repositorySize?: number
  /** For tests. */
  deadlines?: Partial<GitSetup['deadlines']>
  look?: number
  lookup?: Lookup
}

/** Opens the git side of an installation; its mirrors are a cache that may be deleted at any time. */
export function connectGit(options: GitOptions) {
  const tools = openTools(options)
  return {
    /** A null branch means the remote's HEAD; a commit is fetched exactly. */
    fetch: (what: Keys & Parameters<typeof fetchSnapshot>[1]) =>
      fetchSnapshot({ ...tools, keys: what }, what),
    /** Also finds the branch that HEAD names. */
    listBranches: (what: Keys & { url: string; signal: AbortSignal }) =>
      listBranches({ ...tools, keys: what }, what),
    /** The output of `git ls-remote` for branches and tags. */
    listRefs: (what: Keys & { url: string; signal: AbortSignal }) =>
      listRefs({ ...tools, keys: what }, what),
    /** The paths are joined, each ended by a NUL. Null when the commit isn't in the mirror any more. */
    pathsOf: (what: Keys & { url: string; commit: string; signal: AbortSignal }) =>
      pathsOf({ ...tools, keys: what }, what),
    readTip: (what: Keys & { url: string; userId: string; signal: AbortSignal }) =>
      readTip({ ...tools, keys: what }, what),
    /** Checks paths, applies .dockerignore, and merges submodules, which use the same keys. */
    context: (snapshot: Snapshot, what: Keys & ContextOptions) =>
      prepareContext({ ...tools, keys: what }, { ...what, snapshot }),
    /** The files of a commit, submodules included. */
    directory: (
      snapshot: Snapshot,
      what: Keys & { signal: AbortSignal; log: Log },
      path?: string,
    ) => openDirectory({ ...tools, keys: what }, { ...what, snapshot }, path),
    readDockerfile: (context: BuildContext, { signal }: UntilAborted) =>
      readDockerfile(tools, { context, signal }),
    /** A tar stream; git ends with the stream or the signal. */
    archive: (context: BuildContext, { signal }: UntilAborted) =>
      archiveContext(tools, { context, signal }),
    /** Makes a repository of one commit in `folder`, of the files of a tar archive. */
    importUpload: (what: Parameters<typeof importUpload>[1]) => importUpload(tools, what),
    /** False when there was none. */
    removeMirror: (url: string) => removeMirror(tools, url),
  }
}

type UntilAborted = { signal: AbortSignal }

function openTools(options: GitOptions): GitTools {
  const dataDir = resolve(options.dataDir)
  const home = join(dataDir, 'git-home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  for (const left of [keyDirectory(home), looksFolder(home), gitDirectories(home)])
    rmSync(left, { recursive: true, force: true })
  // git refuses local repositories of other users. If local ones are allowed, all of them are.
  writeFileSync(
    join(home, '.gitconfig'),
    options.allowLocalRepos ? '[safe]\n\tdirectory = *\n' : '',
  )
  return {
    setup: {
      home,
      allowLocal: options.allowLocalRepos,
      deadlines: { command: 120_000, transfer: 1_800_000, silence: 60_000, ...options.deadlines },
    },
    mirrors: join(dataDir, 'mirrors'),
    allow: options.allowHosts,
    lookup: options.lookup,
    limits: { size: options.repositorySize ?? 2 * 2 ** 30, look: options.look ?? 1000 },
    locks: new KeyedLock(),
    keys: {},
  }
}

/** The oldest version with every feature used here. */
export const oldestGit = '2.37'

/** Throws a Failure when git isn't installed. */
export async function gitVersion({ signal }: { signal: AbortSignal }) {
  const limit = 10_000
  const deadlines = { command: limit, transfer: limit, silence: limit }
  const setup = { home: tmpdir(), allowLocal: false, deadlines }
  const said = (await runGit(setup, { command: 'version', signal })).toString('utf8')
  return /\d+(\.\d+)+/.exec(said)?.[0] ?? said.trim()
}
