import { Failure } from '../../platform/errors.ts'
import { report } from '../../platform/journal.ts'
import { adminsAuthFor } from '../../registries/auth.ts'
import { parseReference } from '../../registries/image-registry.ts'
import { RemoteRepository } from '../../registries/remote-repository.ts'
import type { RemoteDeps } from '../../registries/remote-repository.ts'
import type { RuntimeDeps } from '../deps.ts'

/** Milliseconds for the registry to remove images of one project. */
const timeoutMs = 60_000

let isToldKept = false

/** Removes images that aren’t kept from DAVIT_REGISTRY. A registry that is away keeps them until the next time. */
export async function removeTags(
  deps: Pick<RuntimeDeps, 'db' | 'secrets' | 'config'> & RemoteDeps,
  { projectId, isKept }: { projectId: string; isKept: (image: string) => boolean },
) {
  const name = `${deps.config.registry}/${projectId}`
  try {
    const remote = new RemoteRepository(deps, {
      ...{ reference: parseReference(name)!, auth: adminsAuthFor(deps, name) },
      ...{ ownerId: '', access: 'pull,delete', signal: AbortSignal.timeout(timeoutMs) },
    })
    for (const tag of await remote.tags())
      if (named.test(tag) && !isKept(`davit/${projectId}:${tag}`))
        await remote.remove(await remote.digest(tag))
  } catch (error) {
    const code = error instanceof Failure ? error.code : ''
    if (code === 'image_not_found' || (code === 'registry_keeps_images' && isToldKept)) return
    isToldKept ||= code === 'registry_keeps_images'
    report('old images stay in the registry', error, { project: projectId })
  }
}

/** As deployments name their images. */
const named = /^[\da-f-]{36}-[\w-]{32}(\.|$)/
