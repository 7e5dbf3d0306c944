import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Lookup } from '../platform/hosts.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import { archiveContext, prepareContext, readDockerfile } from './context.ts'
import type { ContextOptions } from './context.ts'
import { findDockerfiles, looksFolder } from './find-dockerfiles.ts'
import { gitDirectories } from './git-directory.ts'
import { fetchSnapshot } from './fetch.ts'
import { keyDirectory } from './keys.ts'
import type { Keys } from './keys.ts'
import { pathsOf, removeMirror } from './mirror.ts'
import { listBranches } from './remote.ts'
import type { GitSetup } from './run.ts'
import { tmpdir } from 'node:os'
import { runGit } from './run.ts'

export type Log = (line: string) => void

/** A commit in a mirror on this machine. */
export type Snapshot = {
  mirror: string
  url: string
  branch: string
  commit: { hash: string; author: string; message: string }
  /** Whether its history and all tags are there too. */
  hasHistory: boolean
}

/** What a build sees: a tree in the mirror, and where else its objects are. */
export type BuildContext = {
  mirror: string
  tree: string
  alternates: string[]
  /** The Dockerfile's path inside the context. */
  dockerfile: string
  /** For a generated Dockerfile: a name that nothing in the context has. */
  spareName: string
  /** What its `.git` shows; null when it has none. */
  shows: Snapshot | null
  files: number
  /** The text of its Procfile, as it is in the repository; null without one that can be read. */
  procfile: string | null
}

export type Git = ReturnType<typeof connectGit>

export type GitOptions = {
  dataDir: string
  allowHosts: string[]
  allowLocalRepos: boolean
  /** Bytes that a repository may use on disk, and the files of a build. */
  repositorySize?: number
  /** For tests: shorter deadlines, milliseconds between two size checks, another name server. */
  deadlines?: Partial<GitSetup['deadlines']>
  look?: number
  lookup?: Lookup
}

/** What the functions of this folder share. */
export type GitTools = {
  setup: GitSetup
  mirrors: string
  allow: string[]
  lookup: Lookup | undefined
  limits: { size: number; look: number }
  locks: KeyedLock
  /** Of the current operation. */
  keys: Keys
}

/** Opens the git side of an installation; its mirrors are a cache that may be deleted at any time. */
export function connectGit(options: GitOptions) {
  const tools = openTools(options)
  return {
    /** Fetches and resolves: branch null means the remote's HEAD; a commit is fetched exactly. */
    fetch: (what: Keys & Parameters<typeof fetchSnapshot>[1]) =>
      fetchSnapshot({ ...tools, keys: what }, what),
    /** The current branches of a repository, and the one that its HEAD names. */
    listBranches: (what: Keys & { url: string; signal: AbortSignal }) =>
      listBranches({ ...tools, keys: what }, what),
    /** The paths in a commit that was fetched, a NUL after each; null when it isn't here anymore. */
    pathsOf: (what: Keys & { url: string; commit: string; signal: AbortSignal }) =>
      pathsOf({ ...tools, keys: what }, what),
    /** What looks like a Dockerfile at the tip of a repository. */
    findDockerfiles: (what: Keys & { url: string; userId: string; signal: AbortSignal }) =>
      findDockerfiles({ ...tools, keys: what }, what),
    /**
     * Prepares the build context: paths checked, .dockerignore applied, submodules merged in. The
     * keys of the fetch are used for submodules too.
     */
    context: (snapshot: Snapshot, what: Keys & ContextOptions) =>
      prepareContext({ ...tools, keys: what }, { ...what, snapshot }),
    /** The text of the Dockerfile that the context is built with. */
    readDockerfile: (context: BuildContext, { signal }: UntilAborted) =>
      readDockerfile(tools, { context, signal }),
    /** The context as a tar stream; git ends with the stream or the signal. */
    archive: (context: BuildContext, { signal }: UntilAborted) =>
      archiveContext(tools, { context, signal }),
    /** Removes the mirror of a repository; false when there was none. */
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
  // git refuses local repositories of other users; if local ones are allowed, so are those.
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

/** The oldest git with every feature used here. */
export const oldestGit = '2.37'

/** Such as `2.39.5`; throws a Failure when there is no git. */
export async function gitVersion({ signal }: { signal: AbortSignal }) {
  const limit = 10_000
  const deadlines = { command: limit, transfer: limit, silence: limit }
  const setup = { home: tmpdir(), allowLocal: false, deadlines }
  const said = (await runGit(setup, { command: 'version', signal })).toString('utf8')
  return /\d+(\.\d+)+/.exec(said)?.[0] ?? said.trim()
}
