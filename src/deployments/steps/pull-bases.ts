import type { BuildContext } from '../../git/git.ts'
import { baseImages } from '../base-images.ts'
import type { Run } from '../run.ts'

/**
 * Brings the base images that are in the owner's private registries: a build takes what the engine
 * has, and could not log in by itself.
 */
export async function pullBases(
  { docker, git, log, loginTo, hasLogins, signal }: Run,
  { context, buildArgs }: { context: BuildContext; buildArgs: Record<string, string> },
) {
  if (!hasLogins) return
  for (const image of baseImages(await git.readDockerfile(context, { signal }), buildArgs)) {
    const auth = loginTo(image)
    if (!auth || (await docker.inspectImage(image, { signal }))) continue
    log(`Pulling ${image}`)
    for await (const _ of docker.pullImage(image, { auth, signal })) signal.throwIfAborted()
  }
}
