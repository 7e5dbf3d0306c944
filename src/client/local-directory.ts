import { lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { OpenDirectory } from '../git/directory.ts'
import { modes } from '../git/objects.ts'
import type { Entry } from '../git/objects.ts'
import { followPath } from '../git/tree-paths.ts'
import type { Tree } from '../git/tree-paths.ts'
import { git, repositoryRoot } from './working-copy.ts'

type Local = Pick<OpenDirectory, 'paths' | 'read' | 'follow'>

/** The repository around a file, as a commit of all that git doesn’t ignore would have it. */
export async function openLocal(file: string): Promise<{ path: string; directory: Local }> {
  const folder = realpathSync(dirname(file))
  const root = await repositoryRoot(folder)
  const list = (...which: string[]) => git(['ls-files', '-z', ...which], root)
  const listed = await Promise.all([
    list('--cached', '--recurse-submodules'),
    list('--others', '--exclude-standard'),
  ])
  const entries = new Map<string, Entry>()
  for (const path of listed.join('').split('\0')) {
    const found = path === '' ? undefined : lstatSync(join(root, path), { throwIfNoEntry: false })
    const mode = found?.isSymbolicLink() ? modes.link : modes.file
    if (found && !found.isDirectory()) entries.set(path, { mode, path, hash: path, bytes: path })
  }
  const tree: Tree = { entries, read: async ({ path }, { max }) => textOf(join(root, path), max) }
  const follow = (path: string) => followPath(tree, path)
  const read: Local['read'] = async (path, options) => {
    const entry = entries.get(await follow(path))
    return entry ? tree.read(entry, options) : ''
  }
  const path = relative(root, join(folder, basename(file)))
  return { path, directory: { paths: [...entries.keys()], read, follow } }
}

/** Null for a text of more than `max` bytes, and for what is no file. */
function textOf(path: string, max: number) {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) return readlinkSync(path)
  return found.isFile() && found.size <= max ? readFileSync(path, 'utf8') : null
}
