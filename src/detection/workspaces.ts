import type { Files } from './files.ts'
import { folders, isForeign, whole } from './manifests.ts'
import { kinds } from './workspace-kinds.ts'
import type { Member, Options, Workspace } from './plan.ts'

/** With more, none is left out of a build. */
const maxMembers = 500
const maxPatterns = 200

const maxDepth = 6

/** Those above the directory that it is a member of: the nearest of each language. */
export function workspacesOf(repository: Files, directory: string): Workspace[] {
  const found: Workspace[] = []
  for (let root = directory; root !== '';) {
    root = parentOf(root)
    const own = below(root, directory)
    for (const workspace of workspacesAt(repository, root, own))
      if (workspace.members.has(own))
        if (!found.some(({ language }) => language === workspace.language)) found.push(workspace)
  }
  return found
}

/** `own` is among the members, if it is one, however many there are. */
export function workspacesAt(repository: Files, root: string, own?: string): Workspace[] {
  const files = repository.below(root)
  return kinds.flatMap(({ language, read, manifest, describe, rootFiles }) => {
    const named = read(files)
    if (!named) return []
    const all = listMembers(files, manifest, named)
    const listed = all
      .toSorted((a, b) => Number(b === own) - Number(a === own))
      .slice(0, maxMembers)
    const described = new Map(listed.map((directory) => [directory, describe(files, directory)]))
    const byName = new Map<string, string>()
    const twins: string[] = []
    for (const [directory, { name }] of described) {
      if (name === null) continue
      if (byName.has(name)) twins.push(name)
      else byName.set(name, directory)
    }
    const members = new Map<string, Member>()
    for (const [directory, { name, uses }] of described) {
      const used = [
        ...uses.names.map((other) => byName.get(other)),
        ...uses.directories.map((other) => inside(directory, other)),
      ].filter((other) => other !== undefined && described.has(other) && other !== directory)
      members.set(directory, { name, uses: [...new Set(used as string[])].sort() })
    }
    const isComplete =
      listed.length === all.length && [...described.values()].every(({ isRead }) => isRead)
    const rootOnes = rootFiles.filter((path) => files.has(path) || files.hasFolder(path))
    const { tool } = named
    return [{ language, tool, root, files, members, isComplete, twins, rootFiles: rootOnes }]
  })
}

/** A package of a workspace of the language; null where the directory is none. */
export type Membership = NonNullable<ReturnType<typeof membershipIn>>

export function membershipIn(
  { workspaces, directory: path }: Pick<Options, 'workspaces' | 'directory'>,
  language: Workspace['language'],
) {
  const workspace = workspaces.find((each) => each.language === language)
  if (!workspace) return null
  const { root, tool, twins, isComplete } = workspace
  const directory = below(root, path)
  const { order: needed, isCyclic } = neededBy(workspace, directory)
  const where = root === '' ? 'the repository' : root
  return {
    workspace,
    /** Below the workspace's root. */
    directory,
    /** The packages that it needs, each after those that it needs itself. */
    needed,
    /** What a user should know of it. */
    reasons: [
      `in the ${tool} workspace of ${where}` +
        (needed.length === 0 ? '' : `, with ${named(needed)}`),
      ...(isComplete ? [] : ['not all of it was read, so nothing of it is left out']),
      ...(isCyclic ? ['some of its packages need each other, so their order is arbitrary'] : []),
      ...(twins.length === 0 ? [] : [`several packages are called ${named(twins)}`]),
    ],
  }
}

export const named = (all: string[]) =>
  all.length > 6
    ? `${all.slice(0, 5).join(', ')} and ${all.length - 5} more`
    : all.join(', ').replace(/, ([^,]*)$/, ' and $1')

/** A line of a shell, in a folder of where it starts. */
export const inFolder = (folder: string, line: string) =>
  folder === '' ? line : `cd ${folder} && ${line}`

/** What the member needs of the others, each after what it needs itself. */
export function neededBy(
  { members }: Pick<Workspace, 'members'>,
  directory: string,
): { order: string[]; isCyclic: boolean } {
  const done = new Set<string>()
  const open = new Set<string>()
  let isCyclic = false
  const visit = (at: string) => {
    if (done.has(at)) return
    if (open.has(at)) {
      isCyclic = true
      return
    }
    open.add(at)
    for (const next of members.get(at)?.uses ?? []) visit(next)
    open.delete(at)
    done.add(at)
  }
  visit(directory)
  return { order: [...done].filter((other) => other !== directory), isCyclic }
}

const parentOf = (directory: string) =>
  directory.includes('/') ? directory.slice(0, directory.lastIndexOf('/')) : ''

/** The path of something below the root. */
export const below = (root: string, path: string) =>
  root === '' ? path : path.slice(root.length + 1)

export const joined = (root: string, path: string) =>
  root === '' || path === '' ? root + path : `${root}/${path}`

/** The directory that a relative path leads to; undefined outside of the root. */
export function inside(from: string, path: string): string | undefined {
  const at = from.split('/')
  for (const part of path.split('/')) {
    if (part === '..') {
      if (at.pop() === undefined) return undefined
    } else if (part !== '' && part !== '.') at.push(part)
  }
  return at.join('/')
}

/** In git's order. */
function listMembers(
  files: Files,
  manifest: string,
  { include, exclude }: { include: string[]; exclude: string[] },
): string[] {
  const [included, excluded] = [globsOf(include), globsOf(exclude)]
  const path = whole(`(${folders(maxDepth)})/(?:${manifest})`)
  const found = new Set<string>()
  for (const file of files.paths) {
    const directory = path.exec(file)?.[1]
    if (directory === undefined || found.has(directory) || isForeign.test(directory)) continue
    const matches = (glob: Bun.Glob) => glob.match(directory)
    if (included.some(matches) && !excluded.some(matches)) found.add(directory)
  }
  return [...found]
}

/** Paths that leave the root match nothing. */
const globsOf = (patterns: string[]) =>
  patterns
    .slice(0, maxPatterns)
    .map((pattern) => pattern.replace(/^(\.\/+)+/, '').replace(/\/{1,100}$/, ''))
    .filter((pattern) => pattern.length <= 300 && !/(^|\/)\.\.(\/|$)|^\//.test(pattern))
    .map((pattern) => new Bun.Glob(pattern))
