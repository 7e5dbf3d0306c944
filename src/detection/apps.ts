import { Failure } from '../platform/errors.ts'
import { stringOf, objectOf } from './files.ts'
import type { Files } from './files.ts'
import { appFolders } from './manifests.ts'
import type { Found, Options, Workspace } from './plan.ts'
import { joined, neededBy, workspacesAt } from './workspaces.ts'

/** A package of a workspace, or an app in a folder of its own. */
export type Part = {
  /** In the repository. */
  directory: string
  name: string | null
  /** What it is deployed as; null for one that others use. */
  kind: string | null
  /** What joins it with others; null when nothing does. */
  tool: string | null
  /** The directories of all that it needs of the repository. */
  dependsOn: string[]
  /** A push that changes none of these can't change it. */
  watchPaths: string[]
}

/** How many are recognised, which takes longest. */
const maxKinds = 100
const maxParts = 500

/** As many as a project may have. */
const maxWatched = 100

type Recognise = (place: Pick<Options, 'files' | 'directory' | 'workspaces'>) => Found | null

/** What a repository holds below its top; packages of workspaces alone, when its top is an app itself. */
export function partsOf(
  repository: Files,
  { isApp, recognise }: { isApp: boolean; recognise: Recognise },
): Part[] {
  const folders = appFolders(repository.paths)
  const tops = ['', ...folders.filter((folder) => !folder.includes('/'))]
  const workspaces = tops.flatMap((top) => workspacesAt(repository, top))
  const parts = new Map<string, Part>()
  const used = new Set<string>()
  for (const workspace of workspaces)
    for (const [directory, { name, uses }] of workspace.members) {
      const path = joined(workspace.root, directory)
      for (const other of uses) used.add(joined(workspace.root, other))
      if (parts.has(path)) continue
      const { tool } = workspace
      const watched = watchedOf(workspace, directory)
      parts.set(path, { directory: path, name, kind: null, tool, ...watched })
    }
  if (!isApp)
    for (const directory of folders) {
      // A folder inside of another app is a part of that one.
      if (parts.has(directory) || isInside(directory, parts)) continue
      if (workspaces.some(({ root }) => root === directory)) continue
      const alone = { name: null, kind: null, tool: null, dependsOn: [], watchPaths: [directory] }
      parts.set(directory, { directory, ...alone })
    }
  const listed = [...parts.values()].slice(0, maxParts)
  let left = maxKinds
  for (const part of listed) {
    if (used.has(part.directory) || left-- <= 0) continue
    const files = repository.below(part.directory)
    const within = workspaces.filter(({ root, members }) =>
      [...members.keys()].some((member) => joined(root, member) === part.directory),
    )
    part.kind = kindOf(
      () => recognise({ files, directory: part.directory, workspaces: within }),
      files,
    )
  }
  return listed.filter(({ kind, tool }) => kind !== null || tool !== null)
}

const isInside = (directory: string, parts: Map<string, Part>) => {
  for (let at = directory; at.includes('/');)
    if (parts.has((at = at.slice(0, at.lastIndexOf('/'))))) return true
  return false
}

/** A package without a way to start is what others use. */
function kindOf(recognise: () => Found | null, files: Files): string | null {
  if (files.has('Dockerfile')) return 'Dockerfile'
  try {
    const kind = recognise()?.kind ?? null
    return (kind === 'Node' || kind === 'Bun') && !isStarted(files) ? null : kind
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

function isStarted(files: Files) {
  const scripts = objectOf(files.json('package.json')['scripts'])
  const script = stringOf(scripts['start']) ?? stringOf(scripts['start:prod'])
  return script !== null || files.first('Procfile', 'server.js') !== undefined
}

function watchedOf(workspace: Workspace, directory: string) {
  const { root, rootFiles, isComplete } = workspace
  const needed = neededBy(workspace, directory).order.map((other) => joined(root, other))
  const own = joined(root, directory)
  const files = rootFiles.map((file) => joined(root, file))
  const all = [own, ...needed, ...files]
  const fits = isComplete && all.length <= maxWatched
  // Where not all is known, every push may change it.
  return { dependsOn: needed, watchPaths: fits ? all : [] }
}
