import { Failure } from '../platform/errors.ts'
import type { BuildContext, GitTools } from './git.ts'
import { listTree, readText } from './objects.ts'

/** Bytes of a Dockerfile: some 5,000 lines. */
const most = 256 * 1024

/** The Dockerfile as it is in the context's tree, where links were followed already. */
export async function readDockerfile(
  tools: GitTools,
  { context, signal }: { context: BuildContext; signal: AbortSignal },
): Promise<string> {
  const { mirror, alternates, tree, dockerfile } = context
  const objects = { tools, mirror, alternates, signal }
  const entry = (await listTree(objects, tree)).find(({ path }) => path === dockerfile)
  if (!entry) return ''
  const text = await readText(objects, entry.hash, { most })
  if (text === null) throw tooLarge()
  return text
}

const tooLarge = () =>
  new Failure(
    'dockerfile_too_large',
    'The Dockerfile is larger than 256 KiB.',
    'Move long scripts and data into files of the repository, and let the Dockerfile copy them.',
  )
