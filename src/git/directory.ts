import { Failure } from '../platform/errors.ts'
import { isTurnOver, pause } from '../platform/pause.ts'
import { explainGit } from './failures.ts'
import { isFile, listTree, modes, readText, readTexts } from './objects.ts'
import type { Entry, Objects } from './objects.ts'
import { GitError } from './run.ts'
import { mergeSubmodules } from './submodules.ts'
import type { GitTools, Log, Snapshot } from './tools.ts'
import { followPath } from './tree-paths.ts'
import type { Tree } from './tree-paths.ts'

/** Files of the repository, before any is ignored. */
export type Directory = {
  paths: string[]
  /** Null for a file of more than `max` bytes. */
  read: (path: string, options: { max: number }) => Promise<string | null>
  /** Up to `total` bytes together; null for one of more than `max`. What a link leads out to isn't there. */
  readAll: (
    paths: string[],
    options: { max: number; total: number },
  ) => Promise<Map<string, string | null>>
}

export type OpenDirectory = Directory & {
  /** Resolves links; throws a Failure for a path that leaves the repository. */
  follow: (path: string) => Promise<string>
}

type Opening = { snapshot: Snapshot; signal: AbortSignal; log: Log }

/** All files of a commit, those of its submodules too. */
export async function openRepository(tools: GitTools, { snapshot, signal, log }: Opening) {
  const { mirror, commit } = snapshot
  const listed = await listTree({ tools, mirror, alternates: [], signal }, commit.hash)
  const repository = { mirror, href: snapshot.url, entries: listed }
  const { entries, alternates } = await mergeSubmodules(tools, { repository, signal, log })
  const objects: Objects = { tools, mirror, alternates, signal }
  return { entries, alternates, objects, tree: await openTree(objects, entries) }
}

/** The files of a directory of the commit; by default the root. */
export async function openDirectory(
  tools: GitTools,
  options: Opening,
  path = '.',
): Promise<OpenDirectory> {
  const { entries, objects, tree } = await openRepository(tools, options).catch((error) => {
    throw error instanceof GitError ? explainGit(error, { where: '' }) : error
  })
  const root = await followPath(tree, path)
  const prefix = prefixOf(root)
  const inside = entriesIn(entries, root)
  return {
    ...directoryOf(objects, tree, inside, prefix),
    follow: (path) => followPath(tree, `${prefix}${path}`),
  }
}

async function openTree(objects: Objects, entries: Entry[]): Promise<Tree> {
  const byPath = new Map<string, Entry>()
  for (const entry of entries) {
    byPath.set(entry.path, entry)
    if (isTurnOver()) await pause()
  }
  return { entries: byPath, read: ({ hash }, { max }) => readText(objects, hash, { max }) }
}

export const prefixOf = (directory: string) => (directory === '' ? '' : `${directory}/`)

export const entriesIn = (entries: Entry[], directory: string) =>
  directory === '' ? entries : entries.filter(({ path }) => path.startsWith(prefixOf(directory)))

export const directoryOf = (
  objects: Objects,
  tree: Tree,
  inside: Entry[],
  prefix = '',
): Directory => ({
  paths: inside.flatMap(({ mode, path }) =>
    mode === modes.submodule ? [] : [path.slice(prefix.length)],
  ),
  async read(path, { max }) {
    const entry = tree.entries.get(await followPath(tree, `${prefix}${path}`))
    return entry && entry.mode !== modes.submodule ? tree.read(entry, { max }) : ''
  },
  async readAll(paths, { max, total }) {
    const found: { path: string; hash: string }[] = []
    for (const path of paths) {
      const entry = tree.entries.get(
        await followPath(tree, `${prefix}${path}`).catch(unlessOutside),
      )
      if (entry && isFile(entry)) found.push({ path, hash: entry.hash })
    }
    return readTexts(objects, found, { max, total })
  },
})

const unlessOutside = (error: unknown) => {
  if (error instanceof Failure) return ''
  throw error
}

/** Of these files and their modes. */
export async function digestOf(entries: Entry[], prefix: string) {
  const hash = new Bun.CryptoHasher('sha256')
  for (const { path, mode, hash: object } of entries) {
    hash.update(`${mode} ${object} ${path.slice(prefix.length)}\0`)
    if (isTurnOver()) await pause()
  }
  return hash.digest('hex')
}
