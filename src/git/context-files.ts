import { Failure } from '../platform/errors.ts'
import { bytes, counted } from '../web/units.ts'
import type { BuildContext, GitTools, Log } from './tools.ts'
import { listTree, modes, readSizes, readText } from './objects.ts'
import type { Entry, Objects } from './objects.ts'
import { followPath } from './tree-paths.ts'
import type { Tree } from './tree-paths.ts'

/* The single files that decide what a build's context is. */

type Paths = { dockerfilePath: string | null; signal: AbortSignal }

/** Files in Git LFS aren't fetched: the build sees their pointer files. */
export async function warnOfPointers(tree: Tree, { entries, log }: { entries: Entry[]; log: Log }) {
  const attributes = tree.entries.get('.gitattributes')
  if (!attributes || entries.length === 0) return
  if (/filter=lfs/.test((await tree.read(attributes, { max: 1024 * 1024 })) ?? '')) {
    log('This repository uses Git LFS, which isn’t supported: the build only sees pointer files.')
  }
}

export const mostFiles = 100_000

/** The engine unpacks all of it, on the disk that apps use too. */
export async function refuseLarge(objects: Objects, entries: Entry[]) {
  if (entries.length > mostFiles)
    throw tooMuch(
      `${counted(entries.length, 'file')}, of at most ${mostFiles.toLocaleString('en')}`,
    )
  const sizes = await readSizes(objects, [...new Set(entries.map(({ hash }) => hash))])
  const size = entries.reduce((sum, { hash }) => sum + (sizes.get(hash) ?? 0), 0)
  const max = objects.tools.limits.size
  if (size > max) throw tooMuch(`${bytes(size)} of files, of at most ${bytes(max)}`)
}

const tooMuch = (what: string) =>
  new Failure(
    'context_too_large',
    `The build would see ${what}.`,
    'Exclude what the build doesn’t need with .dockerignore, or choose a smaller context directory.',
  )

/** `<Dockerfile>.dockerignore` takes precedence over the context's own; null when there is neither. */
export async function findDockerignore(
  tree: Tree,
  {
    root,
    dockerfile,
    dockerfilePath,
    signal,
  }: Paths & {
    root: string
    dockerfile: string | null
  },
): Promise<{ file: string; text: string } | null> {
  const own = dockerfilePath ?? dockerfile
  for (const path of [
    ...(own === null ? [] : [`${own}.dockerignore`]),
    root === '' ? '.dockerignore' : `${root}/.dockerignore`,
  ]) {
    const entry = tree.entries.get(await followPath(tree, path))
    signal.throwIfAborted()
    if (!entry || entry.mode === modes.submodule) continue
    const text = await tree.read(entry, { max: maxIgnored })
    if (text === null) throw tooLong(path)
    return { file: path, text }
  }
  return null
}

/** In bytes, as each of its patterns is compared with each file. */
const maxIgnored = 65_536

const tooLong = (path: string) =>
  new Failure(
    'dockerignore_too_hard',
    `The file ${path} is larger than ${maxIgnored / 1024} KiB.`,
    'Exclude whole folders rather than single files.',
  )

/** In bytes; a Procfile has one line per process. */
const maxProcfile = 16 * 1024

/** Never fails a deployment: an unreadable one is skipped, and links aren't followed. */
export async function readProcfile(tree: Tree, { path, log }: { path: string; log: Log }) {
  const entry = tree.entries.get(path)
  if (!entry || entry.mode === modes.link || entry.mode === modes.submodule) return null
  const text = await tree.read(entry, { max: maxProcfile })
  if (text === null) log(`The Procfile is larger than ${maxProcfile / 1024} KiB and was not read.`)
  return text
}

/** In bytes: some 5,000 lines. */
const maxDockerfile = 256 * 1024

/** Reads it from the context's tree, in which links are resolved already. */
export async function readDockerfile(
  tools: GitTools,
  { context, signal }: { context: BuildContext; signal: AbortSignal },
): Promise<string> {
  const { mirror, alternates, tree, dockerfile, planned } = context
  if (planned !== null) return planned
  const objects = { tools, mirror, alternates, signal }
  const entry = (await listTree(objects, tree)).find(({ path }) => path === dockerfile)
  if (!entry) return ''
  const text = await readText(objects, entry.hash, { max: maxDockerfile })
  if (text === null) throw dockerfileTooLarge()
  return text
}

const dockerfileTooLarge = () =>
  new Failure(
    'dockerfile_too_large',
    'The Dockerfile is larger than 256 KiB.',
    'Move long scripts and data into files of the repository, and copy them in the Dockerfile.',
  )
