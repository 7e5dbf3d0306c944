import { Failure } from '../platform/errors.ts'
import { modes } from './objects.ts'
import { followPath } from './tree-paths.ts'
import type { Tree } from './tree-paths.ts'

type Options = {
  /** The context directory. */
  root: string
  /** The Dockerfile as it was found, and as it was asked for. */
  dockerfile: string
  dockerfilePath: string | null
  signal: AbortSignal
}

/** `<Dockerfile>.dockerignore` wins over the context's own; null where there is neither. */
export async function findDockerignore(
  tree: Tree,
  { root, dockerfile, dockerfilePath, signal }: Options,
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

/** Bytes of a .dockerignore: each of its patterns is compared with each file. */
const mostIgnored = 65_536

const tooLong = (path: string) =>
  new Failure(
    'dockerignore_too_hard',
    `The file ${path} has more than ${mostIgnored / 1024} KiB.`,
    'Leave out whole folders rather than single files.',
  )
