import { Failure } from '../errors.ts'

type Missing = { paths: string[]; branch: string }

/** Says what lies there instead of the Dockerfile, and which setting to change. */
export function noDockerfile(missing: Missing & { path: string }): Failure {
  const { path, paths, branch } = missing
  const others = paths.filter((other) => isDockerfile.test(other)).sort(byDepth)
  const message = `There is no Dockerfile at “${path}” of the branch ${branch}`
  if (others.length > 0) {
    return new Failure(
      'no_dockerfile',
      `${message}; there is ${few(others)}.`,
      `Set dockerfile_path to ${others[0]}, or context_dir to its folder, in the project’s settings.`,
    )
  }
  const clues = paths.filter((other) => isClue.test(other))
  return new Failure(
    'no_dockerfile',
    clues.length > 0
      ? `${message}, nor anywhere else in it; at its top there is ${few(clues)}.`
      : `${message}, nor anywhere else in it.`,
    'Add a Dockerfile to the repository, or set dockerfile_path in the project’s settings.',
  )
}

export function noContext(missing: Missing & { contextDir: string }): Failure {
  const { contextDir, paths, branch } = missing
  const folders = [...new Set(paths.filter((path) => path.includes('/')).map(topFolder))]
  return new Failure(
    'no_context',
    `There is no folder “${contextDir}” in the branch ${branch}` +
      (folders.length > 0 ? `; its folders are ${few(folders)}.` : '; it has no folders at all.'),
    'Set context_dir to a folder of the repository, or to “.” for all of it.',
  )
}

const isDockerfile = /(^|\/)((dockerfile|containerfile)([.-][^/]+)?|[^/]+\.dockerfile)$/i

const isClue =
  /^(compose\.ya?ml|docker-compose\.ya?ml|package\.json|go\.mod|requirements\.txt|pyproject\.toml|Gemfile|Cargo\.toml|composer\.json|pom\.xml|build\.gradle|mix\.exs|index\.html|Procfile)$/

const byDepth = (a: string, b: string) => a.split('/').length - b.split('/').length

const topFolder = (path: string) => path.slice(0, path.indexOf('/'))

const few = (names: string[]) =>
  names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
