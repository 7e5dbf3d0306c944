import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Lookup } from '../platform/hosts.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import type { ContextOptions } from './context.ts'
import type { Keys } from './keys.ts'
import type { fetchSnapshot, importUpload } from './operations.ts'
import type { GitSetup } from './run.ts'
import { gitDirectories, keyDirectory, looksFolder } from './folders.ts'
import type { BuildContext, GitTools, Log, Snapshot } from './tools.ts'

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
    fetch: async (what: Keys & Parameters<typeof fetchSnapshot>[1]) =>
      (await operations()).fetchSnapshot({ ...tools, keys: what }, what),
    /** Also finds the branch that HEAD names. */
    listBranches: async (what: Keys & { url: string; signal: AbortSignal }) =>
      (await operations()).listBranches({ ...tools, keys: what }, what),
    /** The output of `git ls-remote` for branches and tags. */
    listRefs: async (what: Keys & { url: string; signal: AbortSignal }) =>
      (await operations()).listRefs({ ...tools, keys: what }, what),
    /** The paths are joined, each ended by a NUL. Null when the commit isn't in the mirror any more. */
    pathsOf: async (what: Keys & { url: string; commit: string; signal: AbortSignal }) =>
      (await operations()).pathsOf({ ...tools, keys: what }, what),
    readTip: async (what: Keys & { url: string; userId: string; signal: AbortSignal }) =>
      (await operations()).readTip({ ...tools, keys: what }, what),
    /** Checks paths, applies .dockerignore, and merges submodules, which use the same keys. */
    context: async (snapshot: Snapshot, what: Keys & ContextOptions) =>
      (await operations()).prepareContext({ ...tools, keys: what }, { ...what, snapshot }),
    /** The files of a commit, submodules included. */
    directory: async (
      snapshot: Snapshot,
      what: Keys & { signal: AbortSignal; log: Log },
      path?: string,
    ) => (await operations()).openDirectory({ ...tools, keys: what }, { ...what, snapshot }, path),
    readDockerfile: async (context: BuildContext, { signal }: UntilAborted) =>
      (await operations()).readDockerfile(tools, { context, signal }),
    /** A tar stream; git ends with the stream or the signal. */
    archive: async (context: BuildContext, { signal }: UntilAborted) =>
      (await operations()).archiveContext(tools, { context, signal }),
    /** Makes a repository of one commit in `folder`, of the files of a tar archive. */
    importUpload: async (what: Parameters<typeof importUpload>[1]) =>
      (await operations()).importUpload(tools, what),
    /** False when there was none. */
    removeMirror: async (url: string) => (await operations()).removeMirror(tools, url),
  }
}

/** Loaded with the first question: a server at rest asks none. */
const operations = () => import('./operations.ts')

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
  const { runGit } = await operations()
  const said = (await runGit(setup, { command: 'version', signal })).toString('utf8')
  return /\d+(\.\d+)+/.exec(said)?.[0] ?? said.trim()
}
