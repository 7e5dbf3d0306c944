import type { BuildContext, GitTools } from './git.ts'
import { listTree, readObjects } from './objects.ts'

/** The Dockerfile as it is in the context's tree, where links were followed already. */
export async function readDockerfile(
  tools: GitTools,
  { context, signal }: { context: BuildContext; signal: AbortSignal },
): Promise<string> {
  const { mirror, alternates, tree, dockerfile } = context
  const objects = { tools, mirror, alternates, signal }
  const entry = (await listTree(objects, tree)).find(({ path }) => path === dockerfile)
  if (!entry) return ''
  return (await readObjects(objects, [entry.hash])).get(entry.hash)?.toString('utf8') ?? ''
}
