import { join } from 'node:path/posix'
import { Readable } from 'node:stream'
import { isTurnOver, pause } from '../platform/pause.ts'
import { parse } from '../platform/parse.ts'
import { ignoredPaths, ignoringTooHard } from './dockerignore.ts'
import { explainGit } from './failures.ts'
import { fetchCommit } from './fetch.ts'
import type { BuildContext, GitTools, Log, Snapshot } from './tools.ts'
import { gitDirectory } from './git-directory.ts'
import { distrustMirrors, isDamage } from './mirror.ts'
import { dockerfileNames, noContext, noDockerfile } from './missing-path.ts'
import {
  alternatesEnv,
  commitTree,
  listTree,
  modes,
  readText,
  writeTree,
  readSizes,
} from './objects.ts'
import type { Entry, Objects } from './objects.ts'
import { GitError, streamGit } from './run.ts'
import { mergeSubmodules } from './submodules.ts'
import { followPath } from './tree-paths.ts'
import type { Tree } from './tree-paths.ts'
import { Failure } from '../platform/errors.ts'
import { bytes, counted } from '../web/units.ts'

export type ContextOptions = {
  contextDir: string
  dockerfilePath: string | null
  signal: AbortSignal
  log: Log
}
type Options = ContextOptions & { snapshot: Snapshot }

/** Works on git trees, without a checkout of files. */
export async function prepareContext(tools: GitTools, options: Options): Promise<BuildContext> {
  try {
    return await selectContext(tools, options)
  } catch (error) {
    if (!isDamage(error)) throw explained(error)
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
  const listed = await listTree({ tools, mirror, alternates: [], signal }, commit.hash)
  const repository = { mirror, href: snapshot.url, entries: listed }
  const { entries, alternates } = await mergeSubmodules(tools, { repository, signal, log })
  const objects: Objects = { tools, mirror, alternates, signal }
  const tree = await openTree(objects, entries)

  const root = await findContextDir(tree, options)
  const dockerfile = await findDockerfile(tree, { ...options, root })
  const prefix = root === '' ? '' : `${root}/`
  const inside = root === '' ? entries : entries.filter(({ path }) => path.startsWith(prefix))
  const ignoreFile = await findDockerignore(tree, { ...options, root, dockerfile })
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
  const moved = dockerfile.startsWith(prefix) ? null : tree.entries.get(dockerfile)!
  const changed = kept.length !== inside.length || alternates.length > 0 || moved !== null

  const names = namesIn(kept, prefix)
  const place = moved ? freeName(names) : dockerfile.slice(prefix.length)
  const spareName = freeName(names.add(place))
  const procfile = await readProcfile(tree, { path: `${prefix}Procfile`, log })
  const result = { mirror, alternates, spareName, shows, files: kept.length, procfile }
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

async function openTree(objects: Objects, entries: Entry[]): Promise<Tree> {
  const byPath = new Map<string, Entry>()
  for (const entry of entries) {
    byPath.set(entry.path, entry)
    if (isTurnOver()) await pause()
  }
  return { entries: byPath, read: ({ hash }, { most }) => readText(objects, hash, { most }) }
}

async function findContextDir(tree: Tree, { contextDir, snapshot }: Options): Promise<string> {
  const root = await followPath(tree, contextDir)
  const paths = [...tree.entries.keys()]
  if (root !== '' && !paths.some((path) => path.startsWith(`${root}/`))) {
    throw noContext({ contextDir, paths, branch: snapshot.branch })
  }
  return root
}

async function findDockerfile(tree: Tree, options: Options & { root: string }): Promise<string> {
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
  const all = [...tree.entries.keys()]
  throw noDockerfile({ path: paths[0]!, paths: all, branch: snapshot.branch })
}

/** Files in Git LFS aren't fetched: the build sees their pointer files. */
async function warnOfPointers(tree: Tree, { entries, log }: { entries: Entry[]; log: Log }) {
  const attributes = tree.entries.get('.gitattributes')
  if (!attributes || entries.length === 0) return
  if (/filter=lfs/.test((await tree.read(attributes, { most: 1024 * 1024 })) ?? '')) {
    log('This repository uses Git LFS, which isn’t supported: the build only sees pointer files.')
  }
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

const mostFiles = 100_000

/** The engine unpacks all of it, on the disk that apps use too. */
async function refuseLarge(objects: Objects, entries: Entry[]) {
  if (entries.length > mostFiles)
    throw tooMuch(
      `${counted(entries.length, 'file')}, of at most ${mostFiles.toLocaleString('en')}`,
    )
  const sizes = await readSizes(objects, [...new Set(entries.map(({ hash }) => hash))])
  const size = entries.reduce((sum, { hash }) => sum + (sizes.get(hash) ?? 0), 0)
  const most = objects.tools.limits.size
  if (size > most) throw tooMuch(`${bytes(size)} of files, of at most ${bytes(most)}`)
}

const tooMuch = (what: string) =>
  new Failure(
    'context_too_large',
    `The build would see ${what}.`,
    'Exclude what the build doesn’t need with .dockerignore, or choose a smaller context directory.',
  )

/** `<Dockerfile>.dockerignore` takes precedence over the context's own; null when there is neither. */
async function findDockerignore(
  tree: Tree,
  { root, dockerfile, dockerfilePath, signal }: Options & { root: string; dockerfile: string },
): Promise<{ file: string; text: string } | null> {
  for (const path of [
    `${dockerfilePath ?? dockerfile}.dockerignore`,
    root === '' ? '.dockerignore' : `${root}/.dockerignore`,
  ]) {
    const entry = tree.entries.get(await followPath(tree, path))
    signal.throwIfAborted()
    if (!entry || entry.mode === modes.submodule) continue
    const text = await tree.read(entry, { most: mostIgnored })
    if (text === null) throw tooLong(path)
    return { file: path, text }
  }
  return null
}

/** In bytes, as each of its patterns is compared with each file. */
const mostIgnored = 65_536

const tooLong = (path: string) =>
  new Failure(
    'dockerignore_too_hard',
    `The file ${path} is larger than ${mostIgnored / 1024} KiB.`,
    'Exclude whole folders rather than single files.',
  )

/** In bytes; a Procfile has one line per process. */
const mostProcfile = 16 * 1024

/** Never fails a deployment: an unreadable one is skipped, and links aren't followed. */
async function readProcfile(tree: Tree, { path, log }: { path: string; log: Log }) {
  const entry = tree.entries.get(path)
  if (!entry || entry.mode === modes.link || entry.mode === modes.submodule) return null
  const text = await tree.read(entry, { most: mostProcfile })
  if (text === null) log(`The Procfile is larger than ${mostProcfile / 1024} KiB and was not read.`)
  return text
}

/** In bytes: some 5,000 lines. */
const mostDockerfile = 256 * 1024

/** Reads it from the context's tree, in which links are resolved already. */
export async function readDockerfile(
  tools: GitTools,
  { context, signal }: { context: BuildContext; signal: AbortSignal },
): Promise<string> {
  const { mirror, alternates, tree, dockerfile } = context
  const objects = { tools, mirror, alternates, signal }
  const entry = (await listTree(objects, tree)).find(({ path }) => path === dockerfile)
  if (!entry) return ''
  const text = await readText(objects, entry.hash, { most: mostDockerfile })
  if (text === null) throw dockerfileTooLarge()
  return text
}

const dockerfileTooLarge = () =>
  new Failure(
    'dockerfile_too_large',
    'The Dockerfile is larger than 256 KiB.',
    'Move long scripts and data into files of the repository, and copy them in the Dockerfile.',
  )
