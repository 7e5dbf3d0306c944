import { EngineError } from '../../docker/index.ts'
import { removeUnused } from '../../runtime/remove.ts'
import { removeImage } from '../../runtime/images/remove.ts'
import type { Facts, PruneDeps } from './facts.ts'
import { withNeedsOf } from './facts.ts'
import type { Judged } from './plan.ts'
import { planPrune } from './plan.ts'

/** What came of it: the bytes that went, or why it stays. */
export type Taken = { bytes: number | null } | { reason: string }

const gone: Taken = { reason: 'it was gone already' }

/**
 * Removes one thing, if it still may go: what apps need is asked anew in the same moment, and nothing
 * is forced, so that the engine refuses what has come into use.
 */
export async function removeThing(deps: PruneDeps, thing: Judged, facts: Facts): Promise<Taken> {
  const isContainer = thing.kind === 'containers' && thing.owner === 'davit'
  if (isContainer) await deps.collector.finish(thing.id) // its last lines outlive it
  const { candidates, kept } = planPrune(withNeedsOf(deps, facts), [thing.kind])
  const isThis = ({ id }: Judged) => id === thing.id
  if (!candidates.some(isThis)) return kept.find(isThis) ?? gone
  try {
    return await removals[thing.kind](deps, thing, facts)
  } catch (error) {
    if (error instanceof EngineError) return { reason: `the engine keeps it: ${error.message}` }
    throw error
  }
}

type Removal = (deps: PruneDeps, thing: Judged, facts: Facts) => Promise<Taken>

const unused =
  (kind: 'containers' | 'networks' | 'volumes'): Removal =>
  async ({ docker }, { id, bytes }) =>
    (await removeUnused(docker, { kind, id })) ? { bytes } : gone

const removals: Record<Judged['kind'], Removal> = {
  containers: unused('containers'),
  images: async (deps, { id, bytes }, { images }) => {
    const { tags } = images.find((image) => image.id === id)!
    const outcome = await removeImage(deps, tags.length > 0 ? tags : [id])
    if (outcome === 'needed') return { reason: 'a deployment uses it' }
    return outcome === 'removed' ? { bytes } : gone
  },
  networks: unused('networks'),
  volumes: unused('volumes'),
  build_cache: async ({ docker }, { id }) => {
    const bytes = await docker.removeBuildCache(id)
    return bytes === null ? { reason: 'a build uses it by now, or it is gone already' } : { bytes }
  },
}
