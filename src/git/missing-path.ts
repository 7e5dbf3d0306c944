import { isDockerfile } from '../detection/manifests.ts'
import { Failure } from '../platform/errors.ts'
import { nearest } from './nearest.ts'

/** The usual names, those in the root first. */
export const composeFilesIn = (paths: string[]) =>
  paths
    .filter((path) => /(^|\/)(docker-)?compose(\.[\w-]+)?\.ya?ml$/.test(path))
    .sort((a, b) => a.split('/').length - b.split('/').length)

type Missing = { paths: string[]; branch: string }

/** Names the Dockerfiles that exist instead, and the setting to change. */
export function noDockerfile(missing: Missing & { path: string }): Failure {
  const { path, paths, branch } = missing
  const message = `There is no Dockerfile at “${path}” on the branch ${branch}`
  const others = paths.filter((other) => isDockerfile.test(other)).sort(byDepth)
  if (others.length > 0) {
    const [first, ...rest] = byName(path, others.slice(0, maxRated))
    return new Failure(
      'no_dockerfile',
      `${message}; there is ${few([first!, ...rest, ...others.slice(maxRated)])}.`,
      `In the project’s settings, set the Dockerfile to ${first}, or the context directory to its folder.`,
    )
  }
  return new Failure(
    'no_dockerfile',
    `${message}, nor anywhere else in it.`,
    'Leave the Dockerfile in the project’s settings empty, and Davit recognises what the repository is, or add one.',
  )
}

/** Maximum of Dockerfiles that are compared with the missing one. */
const maxRated = 100

/** Sorts by similarity of the file name, then by distance from the path. */
function byName(path: string, others: string[]): string[] {
  const names = nearest(nameOf(path), [...new Set(others.map(nameOf))])
  const byPath = nearest(path, others)
  return names.flatMap((name) => byPath.filter((other) => nameOf(other) === name))
}

export function noContext(missing: Missing & { contextDir: string }): Failure {
  const { contextDir, paths, branch } = missing
  const folders = [...new Set(paths.filter((path) => path.includes('/')).map(topFolder))]
  return new Failure(
    'no_context',
    `There is no folder “${contextDir}” on the branch ${branch}` +
      (folders.length > 0 ? `; its folders are ${few(folders)}.` : '; it has no folders at all.'),
    'Set the context directory to a folder of the repository, or to “.” for all of it.',
  )
}

/** The default names of a build, in Docker's order. */
export const dockerfileNames = ['Dockerfile', 'dockerfile']

const byDepth = (a: string, b: string) => a.split('/').length - b.split('/').length

const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

const topFolder = (path: string) => path.slice(0, path.indexOf('/'))

const few = (names: string[]) =>
  names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
