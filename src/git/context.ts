import { join } from 'node:path/posix'
import { Readable } from 'node:stream'
import { isTurnOver, pause } from '../platform/pause.ts'
import { parse } from '../platform/parse.ts'
import { findDockerignore, readProcfile, refuseLarge, warnOfPointers } from './context-files.ts'
import { ignoredPaths, ignoringTooHard } from './dockerignore.ts'
import { digestOf, directoryOf, entriesIn, openRepository, prefixOf } from './directory.ts'
import type { Directory } from './directory.ts'
import { explainGit } from './failures.ts'
import { fetchCommit } from './fetch.ts'
import type { BuildContext, GitTools, Log, Snapshot } from './tools.ts'
import { gitDirectory } from './git-directory.ts'
import { distrustMirrors, isDamage } from './mirror.ts'
import { dockerfileNames, noContext, noDockerfile } from './missing-path.ts'
import { alternatesEnv, commitTree, modes, writeTree } from './objects.ts'
import type { Entry } from './objects.ts'
import { GitError, streamGit } from './run.ts'
import { followPath } from './tree-paths.ts'
import type { Tree } from './tree-paths.ts'

export type ContextOptions = {
  contextDir: string
  dockerfilePath: string | null
  /** Called before anything else is decided. */
  inspect?: (directory: Directory, app: App) => Promise<void>
  /** True for a digest of the files that the build sees. */
  needsDigest?: boolean
  /** Writes a Dockerfile where there is none and no path to one is set. */
  plan: (app: App) => Promise<Planned>
  signal: AbortSignal
  log: Log
}

/** What has the app in `directory`, which is '' at its top. */
type App = { repository: Directory; directory: string }

/** `dockerignore` is used when the repository has none; the build sees the directory `context`. */
export type Planned = { dockerfile: string; dockerignore: string; context: string }

type Options = ContextOptions & { snapshot: Snapshot }

/** Works on git trees, without a checkout of files. */
export async function prepareContext(tools: GitTools, options: Options): Promise<BuildContext> {
  try {
    return await selectContext(tools, options)
  } catch (error) {
    if (!isDamage(error) || options.snapshot.url === '') throw explained(error)
  }
  const { snapshot, signal, log } = options
  log('The mirror of this repository is damaged: fetching it again.')
  const { url, commit, hasHistory: history } = snapshot
  await fetchCommit(tools, { url, commit: commit.hash, history, signal, log })
  return selectContext(tools, options).catch((error) => {
    throw explained(error)
  })
}

export function archiveContext(
  tools: GitTools,
  { context, signal }: { context: BuildContext; signal: AbortSignal },
): ReadableStream<Uint8Array> {
  const { shows: snapshot } = context
  const archive = () =>
    streamGit(tools.setup, {
      command: 'archive',
      options: ['--format=tar'],
      values: [context.tree],
      config: ['tar.umask=0022'],
      env: alternatesEnv(context.alternates),
      mirror: context.mirror,
      signal,
      onFailure: async (error) => {
        await distrustMirrors(context)
        return explainGit(error, { where: '' })
      },
    })
  if (snapshot === null) return archive()
  return Readable.toWeb(Readable.from(together())) as ReadableStream<Uint8Array>

  async function* together() {
    yield* gitDirectory(tools, { snapshot: snapshot!, signal })
    yield* archive()
  }
}

async function selectContext(tools: GitTools, options: Options): Promise<BuildContext> {
  const { snapshot, signal, log } = options
  const { mirror, commit } = snapshot
  const { entries, alternates, objects, tree } = await openRepository(tools, options)

  const directory = await findContextDir(tree, options)
  const app = { repository: directoryOf(objects, tree, entries), directory }
  const own = directoryOf(objects, tree, entriesIn(entries, directory), prefixOf(directory))
  await options.inspect?.(own, app)
  const dockerfile = await findDockerfile(tree, options)
  const planned = dockerfile === null ? await options.plan(app) : null
  const root = planned?.context ?? directory
  const prefix = prefixOf(root)
  const inside = entriesIn(entries, root)
  const ignoreFile =
    (await findDockerignore(tree, { ...options, root, dockerfile })) ??
    (planned && { file: 'the .dockerignore of the written Dockerfile', text: planned.dockerignore })
  await warnOfPointers(tree, { entries: inside, log })

  const ignored = ignoreFile && (await findIgnored(ignoreFile, { inside, prefix, signal }))
  const shows = snapshot.hasHistory ? await shownBy(ignoreFile, { snapshot, signal, log }) : null
  const kept: Entry[] = []
  for (const [index, entry] of inside.entries()) {
    if (isTurnOver()) await pause()
    const { path } = entry
    if (/(^|\/)\.git(\/|$)/i.test(path)) continue
    const isNeeded = path === dockerfile || path === `${prefix}.dockerignore`
    if (isNeeded || ignored?.[index] !== 1) kept.push(entry)
  }
  await refuseLarge(objects, kept)
  const moved =
    dockerfile === null || dockerfile.startsWith(prefix) ? null : tree.entries.get(dockerfile)!
  const changed = kept.length !== inside.length || alternates.length > 0 || moved !== null

  const names = namesIn(kept, prefix)
  const place = moved || dockerfile === null ? freeName(names) : dockerfile.slice(prefix.length)
  const spareName = freeName(names.add(place))
  const procfile = await readProcfile(tree, { path: `${prefixOf(directory)}Procfile`, log })
  const text = planned?.dockerfile ?? null
  const result = {
    mirror,
    alternates,
    spareName,
    shows,
    files: kept.length,
    procfile,
    planned: text,
    digest: options.needsDigest ? await digestOf(moved ? [...kept, moved] : kept, prefix) : '',
  }
  if (!changed && root === '') return { ...result, tree: commit.hash, dockerfile: place }
  const chosen = kept.map((entry) => without(entry, prefix))
  if (moved) chosen.push({ ...moved, path: place, bytes: place })
  const written = changed ? await writeTree(objects, chosen) : `${commit.hash}:${root}`
  const dated = await commitTree(objects, { tree: written, dateOf: commit.hash })
  return { ...result, tree: dated, dockerfile: place, files: chosen.length }
}

/** Like any file, `.git` may be excluded by the .dockerignore. */
async function shownBy(
  ignoreFile: { file: string; text: string } | null,
  { snapshot, signal, log }: { snapshot: Snapshot; signal: AbortSignal; log: Log },
) {
  const inside = [{ path: '.git/HEAD' }]
  const [isIgnored] = ignoreFile
    ? await findIgnored(ignoreFile, { inside, prefix: '', signal })
    : []
  if (isIgnored !== 1) return snapshot
  log(`The build gets no .git, because ${ignoreFile!.file} excludes it.`)
  return null
}

async function findIgnored(
  { file, text }: { file: string; text: string },
  {
    inside,
    prefix,
    signal,
  }: { inside: Pick<Entry, 'path'>[]; prefix: string; signal: AbortSignal },
): Promise<Uint8Array> {
  let paths = ''
  for (const { path } of inside) {
    paths += `${path.slice(prefix.length)}\0`
    if (isTurnOver()) await pause()
  }
  const args: [string, string, { file: string }] = [text, paths, { file }]
  const options = { tooLong: ignoringTooHard, deadline: 10_000, owner: 'builds', signal }
  return parse<typeof ignoredPaths>('ignoredPaths', args, options)
}

async function findContextDir(tree: Tree, { contextDir, snapshot }: Options): Promise<string> {
  const root = await followPath(tree, contextDir)
  const paths = [...tree.entries.keys()]
  if (root !== '' && !paths.some((path) => path.startsWith(`${root}/`))) {
    throw noContext({ contextDir, paths, branch: snapshot.branch })
  }
  return root
}

/** Null where one is to be planned. */
async function findDockerfile(tree: Tree, options: Options): Promise<string | null> {
  const { dockerfilePath, contextDir, snapshot } = options
  const paths =
    dockerfilePath === null
      ? dockerfileNames.map((name) => join(contextDir, name))
      : [dockerfilePath]
  for (const path of paths) {
    const found = await followPath(tree, path)
    const mode = tree.entries.get(found)?.mode
    if (mode !== undefined && mode !== modes.submodule) return found
  }
  if (dockerfilePath === null) return null
  const all = [...tree.entries.keys()]
  throw noDockerfile({ path: dockerfilePath, paths: all, branch: snapshot.branch })
}

const namesIn = (entries: Entry[], prefix: string) =>
  new Set(entries.map(({ path }) => path.slice(prefix.length).split('/', 1)[0]!))

function freeName(taken: Set<string>): string {
  let name = '.davit.Dockerfile'
  while (taken.has(name)) name = `.davit${name}`
  return name
}

const without = (entry: Entry, prefix: string): Entry => ({
  ...entry,
  path: entry.path.slice(prefix.length),
  bytes: entry.bytes.slice(Buffer.byteLength(prefix)),
})

const explained = (error: unknown) =>
  error instanceof GitError ? explainGit(error, { where: '' }) : error
