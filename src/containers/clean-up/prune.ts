import { isEngineSilent } from '../../docker/failures.ts'
import { EngineError } from '../../docker/index.ts'
import type { Docker } from '../../docker/index.ts'
import { firstServer } from '../../platform/root.ts'
import { removeUnused } from '../../runtime/act.ts'
import { removeImage } from '../../runtime/images/remove.ts'
import { Failure } from '../../platform/errors.ts'
import { gatherFacts, otherServer, readNeeds } from './store.ts'
import type { Facts, PruneDeps } from './store.ts'
import { allOf, isTickedByDefault, itemOf, parseItem } from './kinds.ts'
import type { Outcome, PruneKind, Skipped, Thing } from './kinds.ts'
import { planPrune } from './plan.ts'
import type { Judged, Plan } from './plan.ts'

export type PruneRequest = {
  what: readonly PruneKind[]
  /** As `kind:id`; if omitted, everything that is removed by default. */
  items?: readonly string[] | null | undefined
  /** The ids of servers; by default all. */
  servers?: readonly string[] | null | undefined
}

type Pruning = PruneRequest & {
  /** Without items. */
  isChosen: (thing: Judged) => boolean
  signal: AbortSignal
}

function targetsOf({ engines }: PruneDeps, { servers }: Pick<PruneRequest, 'servers'>) {
  const all = engines.all.filter(({ serverId }) => servers?.includes(serverId) ?? true)
  const isAway = (docker: Docker) => engines.isAway(docker)
  return { there: all.filter((docker) => !isAway(docker)), away: all.filter(isAway) }
}

/** Changes nothing. */
export async function previewPrune(
  deps: PruneDeps,
  { what, servers, signal }: Omit<PruneRequest, 'items'> & { signal?: AbortSignal | undefined },
): Promise<Plan> {
  const { there } = targetsOf(deps, { servers })
  const plans = there.map(async (docker) =>
    planPrune(await gatherFacts({ ...deps, docker }, { signal }), what),
  )
  const found = await Promise.all(plans)
  return {
    candidates: found.flatMap(({ candidates }) => candidates),
    kept: found.flatMap(({ kept }) => kept),
  }
}

/**
 * Removes the requested items that may still be removed, one after the other. The
 * outcome is updated along the way, so it is correct even after an abort.
 */
export async function prune(deps: PruneDeps, asked: Pruning, outcome: Outcome): Promise<void> {
  const { there, away } = targetsOf(deps, asked)
  const nameOf = (docker: Docker) => otherServer(deps, docker)!.name
  outcome.away.push(...away.map(nameOf))
  outcome.skipped.push(...elsewhere(deps, asked.items ?? [], there))
  for (const docker of there)
    try {
      await pruneOne({ ...deps, docker }, asked, outcome)
    } catch (error) {
      // the others don’t wait for one that went away
      if (docker.serverId === firstServer || !isEngineSilent(error)) throw error
      outcome.away.push(nameOf(docker))
    }
}

/** What was named on other servers, such as one that was removed since. */
const elsewhere = (deps: PruneDeps, items: readonly string[], there: Docker[]): Skipped[] =>
  items.flatMap((item) => {
    const { kind, id, serverId } = parseItem(item)!
    if (isForAll(item) || there.some((docker) => docker.serverId === serverId)) return []
    const server = otherServer(deps, { serverId })
    return [{ kind, id, name: id, bytes: 0, server, reason: 'its server wasn’t cleaned up' }]
  })

async function pruneOne(deps: PruneDeps, asked: Pruning, outcome: Outcome): Promise<void> {
  const facts = await gatherFacts(deps, asked)
  const { serverId } = deps.docker
  const items = asked.items?.filter(
    (item) => isForAll(item) || parseItem(item)?.serverId === serverId,
  )
  const chosen = choose(planPrune(facts, asked.what), { ...asked, items })
  outcome.skipped.push(...chosen.skipped)
  for (const [at, thing] of chosen.go.entries()) {
    try {
      asked.signal.throwIfAborted()
      const taken = await removeThing(deps, thing, facts)
      if ('reason' in taken) outcome.skipped.push({ ...bare(thing), reason: taken.reason })
      else outcome.removed.push({ ...bare(thing), bytes: taken.bytes })
    } catch (error) {
      const rest = chosen.go.slice(at)
      outcome.skipped.push(...rest.map((left) => ({ ...bare(left), reason: whyLeft(error) })))
      throw error
    }
  }
}

function choose(plan: Plan, { items, isChosen }: Pick<Pruning, 'items' | 'isChosen'>) {
  if (!items) return { go: plan.candidates.filter(isChosen), skipped: unnamedVolumes(plan) }
  const named = new Set(items)
  const isNamed = (thing: Judged) => named.has(itemOf(thing))
  const isOfAll = (thing: Judged) => named.has(allOf(thing.kind)) && isTickedByDefault(thing)
  const kept = plan.kept.filter(isNamed).map((thing) => ({ ...bare(thing), reason: thing.reason }))
  const go = plan.candidates.filter((thing) => isNamed(thing) || isOfAll(thing))
  const found = new Set([...go, ...kept].map(itemOf))
  const missing = [...named].flatMap((item) => {
    const { kind, id } = parseItem(item)!
    return found.has(item) || item === allOf(kind)
      ? []
      : [{ kind, id, name: id, bytes: 0, reason: 'it had already been removed' }]
  })
  return { go, skipped: [...kept, ...missing] }
}

const unnamedVolumes = ({ candidates }: Plan): Skipped[] =>
  candidates
    .filter(({ kind, owner }) => kind === 'volumes' && owner === 'davit')
    .map((thing) => ({ ...bare(thing), reason: 'a volume is only removed when it is named' }))

const isForAll = (item: string) => item.endsWith(':*')

const bare = ({ kind, id, name, bytes, server }: Thing): Thing => ({
  ...{ kind, id, name, bytes },
  ...(server && { server }),
})

const whyLeft = (error: unknown) =>
  error instanceof Failure ? error.message : 'the clean-up was aborted before it'

type Taken = { bytes: number | null } | { reason: string }

const gone: Taken = { reason: 'it had already been removed' }

/** Checks needs again just before the removal, and never forces it: the engine refuses what is in use. */
async function removeThing(deps: PruneDeps, thing: Judged, facts: Facts): Promise<Taken> {
  const isContainer = thing.kind === 'containers' && thing.owner === 'davit'
  if (isContainer) await deps.collector.finish({ id: thing.id, serverId: deps.docker.serverId }) // stores its last log lines
  if (thing.kind !== 'build_cache') {
    // only the engine knows which of possibly thousands of entries are in use
    const { candidates, kept } = planPrune({ ...facts, needs: readNeeds(deps.db) }, [thing.kind])
    const isThis = ({ id }: Judged) => id === thing.id
    if (!candidates.some(isThis)) return kept.find(isThis) ?? gone
  }
  try {
    return await removals[thing.kind](deps, thing, facts)
  } catch (error) {
    if (error instanceof EngineError)
      return { reason: `Docker refused to remove it: ${error.message}` }
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
  images: async (deps, { id, bytes, server }, { images }) => {
    const { tags } = images.find((image) => image.id === id)!
    const references = tags.length > 0 ? tags : [id]
    if (server) {
      // a copy, of which Davit’s own server may still have the original
      const went = await Promise.all(references.map((one) => deps.docker.removeImage(one)))
      return went.includes(true) ? { bytes } : gone
    }
    const outcome = await removeImage(deps, references)
    if (outcome === 'needed') return { reason: 'a deployment uses it' }
    return outcome === 'removed' ? { bytes } : gone
  },
  networks: unused('networks'),
  volumes: unused('volumes'),
  build_cache: async ({ docker }, { id }) => {
    const bytes = await docker.removeBuildCache(id)
    return bytes === null
      ? { reason: 'a build uses it by now, or it had already been removed' }
      : { bytes }
  },
}
