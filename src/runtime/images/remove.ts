import type { Db } from '../../db/index.ts'
import type { Engines } from '../../docker/index.ts'
import { isEngineSilent } from '../../docker/failures.ts'
import type { RemoteDeps } from '../../registries/remote-repository.ts'
import type { RuntimeDeps } from '../deps.ts'
import { forgetImage, isImageKept } from './store.ts'

/**
 * Removes an image by its references, and its copies on other servers. Returns "needed" when a deployment runs from it or is about to. No
 * rollback to it can start once the removal has begun; if it fails, they can again. Throws the engine's
 * refusal.
 */
export async function removeImage(
  { db, engines }: { db: Db; engines: Engines },
  references: string[],
): Promise<'removed' | 'gone' | 'needed'> {
  const undo: (() => void)[] = []
  let went = false
  try {
    for (const reference of references) {
      const remember = forgetImage(db, reference)
      if (!remember) return 'needed'
      undo.push(remember)
    }
    for (const reference of references) {
      went = (await removeEverywhere(engines, reference)) || went
      undo.shift()
    }
    return went ? 'removed' : 'gone'
  } finally {
    for (const remember of undo) remember()
  }
}

/**
 * Copies go first, so that one in use keeps the original. Those of a server that doesn’t respond are removed
 * with the next deployment.
 */
export async function removeEverywhere(engines: Engines, reference: string) {
  let went = false
  const [own] = engines.all
  for (const docker of engines.all.toReversed())
    try {
      went = (await engines.of(docker).removeImage(reference)) || went
    } catch (error) {
      if (docker === own || !isEngineSilent(error)) throw error
    }
  return went
}

/** Removes from DAVIT_REGISTRY what no deployment can run any more. */
export async function removeShared(
  deps: Pick<RuntimeDeps, 'db' | 'secrets' | 'config'> & RemoteDeps,
  projectId: string,
  isKept = (image: string) => isImageKept(deps.db, image),
) {
  if (deps.config.registry === null) return
  const { removeTags } = await import('./remove-tags.ts')
  await removeTags(deps, { projectId, isKept })
}
