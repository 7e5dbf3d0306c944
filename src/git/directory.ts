import { Failure } from '../platform/errors.ts'
import { isTurnOver, pause } from '../platform/pause.ts'
import { explainGit } from './failures.ts'
import { isFile, listTree, modes, readText, readTexts } from './objects.ts'
import type { Entry, Objects } from './objects.ts'
import { GitError, runGit } from './run.ts'
import type { GitTools, Log, Snapshot } from './tools.ts'
import { followPath } from './tree-paths.ts'
import type { Tree } from './tree-paths.ts'
import { join } from 'node:path'
import { fetchCommit } from './fetch.ts'

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

type Repository = { mirror: string; href: string; entries: Entry[] }
type Options = { repository: Repository; signal: AbortSignal; log: Log; depth?: number }

const maxDepth = 5

/**
 * Replaces submodule links with the files of the linked commits, fetched through their own mirrors. Returns
 * the entries, and the folders of their objects.
 */
async function mergeSubmodules(
  tools: GitTools,
  options: Options,
): Promise<{ entries: Entry[]; alternates: string[] }> {
  const { repository, signal, log, depth = 1 } = options
  const links = repository.entries.filter(({ mode }) => mode === modes.submodule)
  if (links.length === 0) return { entries: repository.entries, alternates: [] }
  if (depth > maxDepth) throw refused(links[0]!, `submodules nest deeper than ${maxDepth}.`)

  const urls = await readUrls(tools, { repository, signal })
  const entries = repository.entries.filter(({ mode }) => mode !== modes.submodule)
  const alternates: string[] = []
  for (const link of links) {
    const written = urls.get(link.path)
    if (written === undefined) {
      log(`The submodule ${link.path} has no URL in .gitmodules: its folder stays empty.`)
      continue
    }
    log(`Fetching the submodule ${link.path} at ${link.hash.slice(0, 12)}`)
    const url = submoduleUrl({ link, written, parent: repository.href })
    const { mirror, href } = await named(link, () =>
      fetchCommit(tools, { url, commit: link.hash, signal, log }),
    )
    const objects: Objects = { tools, mirror, alternates: [], signal }
    const inside = await mergeSubmodules(tools, {
      repository: { mirror, href, entries: await listTree(objects, link.hash) },
      signal,
      log,
      depth: depth + 1,
    })
    alternates.push(join(mirror, 'objects'), ...inside.alternates)
    for (const entry of inside.entries) entries.push(below(link, entry))
  }
  return { entries, alternates: [...new Set(alternates)] }
}

async function readUrls(
  tools: GitTools,
  { repository, signal }: { repository: Repository; signal: AbortSignal },
): Promise<Map<string, string>> {
  const file = repository.entries.find(({ path }) => path === '.gitmodules')
  const sections = new Map<string, { path?: string; url?: string }>()
  if (!file || file.mode === modes.link) return new Map()
  const output = await runGit(tools.setup, {
    command: 'config',
    options: [`--blob=${file.hash}`, '--no-includes', '--null', '--list'],
    mirror: repository.mirror,
    max: 1024 * 1024,
    tooMuch: () => unreadable(new Error('over 1 MiB')),
    signal,
  }).catch((error) => {
    throw error instanceof GitError ? unreadable(error) : error
  })
  for (const setting of output.toString().split('\0')) {
    const [, name, key, value] = /^submodule\.(.+)\.(path|url)\n(.*)$/s.exec(setting) ?? []
    if (name) sections.set(name, { ...sections.get(name), [key!]: value })
  }
  return new Map(
    [...sections.values()].flatMap(({ path, url }) => (path && url ? [[path, url]] : [])),
  )
}

/** A relative URL is resolved against the parent's; only a local repository may link to local ones. */
function submoduleUrl(options: { link: Entry; written: string; parent: string }): string {
  const { link, written, parent } = options
  if (/^(file:|\/)/i.test(written) && !parent.startsWith('file:')) {
    throw refused(link, 'it is on this server.')
  }
  if (!/^\.\.?\//.test(written)) return written
  const base = new URL(parent)
  const parts = base.pathname.replace(/\/+$/, '').split('/')
  for (const part of written.split('/')) {
    if (part === '..' && parts.length <= 1) throw refused(link, 'its URL leads above the host.')
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  base.pathname = parts.join('/')
  return base.href
}

/** Adds the submodule's path to a failure. */
async function named<T>(link: Entry, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const message = `The submodule ${link.path}: ${error.message}`
    throw new Failure(error.code, message, error.hint, { cause: error })
  }
}

const below = (link: Entry, entry: Entry): Entry => ({
  ...entry,
  path: `${link.path}/${entry.path}`,
  bytes: `${link.bytes}/${entry.bytes}`,
})

const refused = ({ path }: Entry, why: string) =>
  new Failure(
    'submodule_refused',
    `The submodule ${path} can’t be fetched: ${why}`,
    'Give it an https:// URL in .gitmodules, or commit its files.',
  )

const unreadable = (cause: Error) =>
  new Failure(
    'submodule_refused',
    'The repository’s .gitmodules file can’t be read.',
    'Fix its syntax, or remove it.',
    { cause },
  )
