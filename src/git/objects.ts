import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitTools } from './tools.ts'
import { isTurnOver, pause } from '../platform/pause.ts'
import { distrustMirrors, isDamage } from './mirror.ts'
import { runGit } from './run.ts'
import type { GitCommand } from './run.ts'

export type Objects = {
  tools: GitTools
  mirror: string
  alternates: string[]
  signal: AbortSignal
}

/** A file, link or submodule of a tree. */
export type Entry = {
  mode: string
  hash: string
  path: string
  /** The path with one character per byte, as it may not be UTF-8. */
  bytes: string
}

export const modes = { file: '100644', link: '120000', submodule: '160000' }

export const isFile = ({ mode }: Entry) => mode !== modes.link && mode !== modes.submodule

/** In git's order. */
export async function listTree(objects: Objects, commit: string): Promise<Entry[]> {
  const options = ['-r', '-z', '--full-tree']
  const listing = { command: 'ls-tree', options, values: [commit], max: maxListing }
  const output = await run(objects, listing)
  const entries: Entry[] = []
  for (let at = 0, end; (end = output.indexOf(0, at)) !== -1; at = end + 1) {
    entries.push(entryOf(output.toString('latin1', at, end)))
    if (isTurnOver()) await pause()
  }
  return entries
}

function entryOf(line: string): Entry {
  const tab = line.indexOf('\t')
  const [mode = '', , hash = ''] = line.slice(0, tab).split(' ')
  const bytes = line.slice(tab + 1)
  return { mode, hash, bytes, path: decodePath(bytes) }
}

/** In bytes: a tree with more files than any build should see is refused without being read. */
const maxListing = 32 * 1024 * 1024

export async function readObjects(
  objects: Objects,
  hashes: string[],
): Promise<Map<string, Buffer>> {
  const input = Buffer.from(hashes.join('\n') + '\n')
  const output = await run(objects, { command: 'cat-file', options: ['--batch'], input })
  const contents = new Map<string, Buffer>()
  for (let at = 0; at < output.length;) {
    const end = output.indexOf('\n', at)
    const [hash = '', , size] = output.toString('latin1', at, end).split(' ')
    const from = end + 1
    at = from
    if (size === undefined) continue // git prints “missing”
    contents.set(hash, output.subarray(from, from + Number(size)))
    at = from + Number(size) + 1
  }
  return contents
}

/** Null when it has more than `max` bytes; then it isn't read. */
export async function readText(
  objects: Objects,
  hash: string,
  { max }: { max: number },
): Promise<string | null> {
  if ((await readSizes(objects, [hash])).get(hash)! > max) return null
  return (await readObjects(objects, [hash])).get(hash)?.toString() ?? ''
}

/** Many small files at once, in their order: null for one of more than `max` bytes, none beyond `total`. */
export async function readTexts(
  objects: Objects,
  files: { path: string; hash: string }[],
  { max, total }: { max: number; total: number },
): Promise<Map<string, string | null>> {
  const texts = new Map<string, string | null>()
  if (files.length === 0) return texts
  const sizes = await readSizes(objects, [...new Set(files.map(({ hash }) => hash))])
  let left = total
  const wanted = files.filter(({ path, hash }) => {
    const size = sizes.get(hash) ?? 0
    if (size > max) texts.set(path, null)
    return size <= max && (left -= size) >= 0
  })
  if (wanted.length === 0) return texts
  const contents = await readObjects(objects, [...new Set(wanted.map(({ hash }) => hash))])
  for (const { path, hash } of wanted) texts.set(path, contents.get(hash)?.toString() ?? '')
  return texts
}

/** In bytes, by hash. Missing objects have no entry. */
export async function readSizes(objects: Objects, hashes: string[]): Promise<Map<string, number>> {
  const input = Buffer.from(hashes.join('\n') + '\n')
  const options = ['--batch-check=%(objectname) %(objectsize)', '--buffer']
  const output = await run(objects, { command: 'cat-file', options, input })
  const lines = output.toString('latin1').trimEnd().split('\n')
  return new Map(
    lines.map((line) => {
      const [hash = '', size] = line.split(' ')
      return [hash, Number(size) || 0]
    }),
  )
}

/** Returns the tree's hash; nothing is checked out. */
export async function writeTree(objects: Objects, entries: Entry[]): Promise<string> {
  const index = join(objects.mirror, `davit-index-${Bun.randomUUIDv7()}`)
  const env = { GIT_INDEX_FILE: index }
  const lines = entries.map(({ mode, hash, bytes }) => `${mode} ${hash} 0\t${bytes}\0`)
  const input = Buffer.from(lines.join(''), 'latin1')
  try {
    const options = ['-z', '--index-info']
    await run(objects, { command: 'update-index', options, input, env })
    return (await run(objects, { command: 'write-tree', env })).toString().trim()
  } finally {
    await rm(index, { force: true })
    await rm(`${index}.lock`, { force: true })
  }
}

/** Takes the time from another commit, so that the files of a context keep the same date, or is of now. */
export async function commitTree(
  objects: Objects,
  { tree, dateOf }: { tree: string; dateOf: string | null },
): Promise<string> {
  const date =
    dateOf === null ? `${Math.floor(Date.now() / 1000)} +0000` : await dateIn(objects, dateOf)
  const person = { NAME: 'davit', EMAIL: 'davit@localhost', DATE: date }
  const env = Object.fromEntries(
    Object.entries(person).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  )
  const output = await run(objects, {
    command: 'commit-tree',
    options: ['-m', 'context'],
    values: [tree],
    env,
  })
  return output.toString().trim()
}

async function dateIn(objects: Objects, commit: string) {
  const dated = await run(objects, {
    command: 'log',
    options: ['-1', '--no-show-signature', '--date=raw', '--format=%cd'],
    values: [commit],
  })
  return dated.toString().trim() || '0 +0000'
}

/** Lets git read objects of other mirrors. Paths are quoted, since one may contain the separator. */
export const alternatesEnv = (alternates: string[]): Record<string, string> =>
  alternates.length === 0
    ? {}
    : { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates.map((path) => JSON.stringify(path)).join(':') }

async function run(objects: Objects, command: Omit<GitCommand, 'signal'>): Promise<Buffer> {
  const { tools, mirror, alternates, signal } = objects
  const env = { ...alternatesEnv(alternates), ...command.env }
  try {
    return await runGit(tools.setup, { ...command, env, mirror, signal })
  } catch (error) {
    if (isDamage(error)) await distrustMirrors(objects)
    throw error
  }
}

const decodePath = (bytes: string) =>
  /^[\x00-\x7f]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString()
