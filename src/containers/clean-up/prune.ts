import { Failure } from '../../platform/errors.ts'
import { gatherFacts } from './facts.ts'
import type { Facts, PruneDeps } from './facts.ts'
import { itemOf, parseItem } from './kinds.ts'
import type { PruneKind, Thing } from './kinds.ts'
import { isTickedByDefault, planPrune } from './plan.ts'
import type { Judged, Plan } from './plan.ts'
import { removeThing } from './remove.ts'

export type Skipped = Thing & { reason: string }

/** What went so far, and what was asked for and did not. */
export type Outcome = { removed: Thing[]; skipped: Skipped[] }

export type Asked = {
  what: readonly PruneKind[]
  /** What was ticked, as `kind:id`; without it all that goes by default. */
  items?: readonly string[] | null | undefined
}

export const emptyOutcome = (): Outcome => ({ removed: [], skipped: [] })

export const bytesOf = (things: Thing[]) => things.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)

/** What would go and what stays; changes nothing. */
export async function previewPrune(
  deps: PruneDeps,
  { what, signal }: Pick<Asked, 'what'> & { signal?: AbortSignal | undefined },
): Promise<Plan> {
  return planPrune(await gatherFacts(deps, { signal }), what)
}

/**
 * Removes what was asked for and may still go, one after the other. Whatever breaks it off, the
 * outcome, which is written to as it goes, says how far it came.
 */
export async function prune(
  deps: PruneDeps,
  asked: Asked & { choose?: (thing: Judged) => boolean; signal: AbortSignal },
  outcome: Outcome,
): Promise<void> {
  const facts = await gatherFacts(deps, asked)
  const chosen = choose(planPrune(facts, asked.what), asked)
  outcome.skipped.push(...chosen.skipped)
  for (const [at, thing] of chosen.go.entries()) {
    try {
      asked.signal.throwIfAborted()
      await take(deps, { thing, facts, outcome })
    } catch (error) {
      const rest = chosen.go.slice(at)
      outcome.skipped.push(...rest.map((left) => ({ ...bare(left), reason: whyLeft(error) })))
      throw error
    }
  }
}

function choose(
  plan: Plan,
  { items, choose: isChosen = isTickedByDefault }: Asked & { choose?: (thing: Judged) => boolean },
): { go: Judged[]; skipped: Skipped[] } {
  if (!items) return { go: plan.candidates.filter(isChosen), skipped: unnamedVolumes(plan) }
  const named = new Set(items)
  const isNamed = (thing: Judged) => named.has(itemOf(thing))
  const kept = plan.kept.filter(isNamed).map((thing) => ({ ...bare(thing), reason: thing.reason }))
  const go = plan.candidates.filter(isNamed)
  const found = new Set([...go, ...kept].map(itemOf))
  const missing = [...named].flatMap((item) => {
    const { kind, id } = parseItem(item)!
    return found.has(item) ? [] : [{ kind, id, name: id, bytes: 0, reason: 'it was gone already' }]
  })
  return { go, skipped: [...kept, ...missing] }
}

/** Data goes only when each is named. */
const unnamedVolumes = ({ candidates }: Plan): Skipped[] =>
  candidates
    .filter(({ kind, owner }) => kind === 'volumes' && owner === 'davit')
    .map((thing) => ({ ...bare(thing), reason: 'a volume goes only when it is named' }))

async function take(
  deps: PruneDeps,
  { thing, facts, outcome }: { thing: Judged; facts: Facts; outcome: Outcome },
) {
  const taken = await removeThing(deps, thing, facts)
  if ('reason' in taken) outcome.skipped.push({ ...bare(thing), reason: taken.reason })
  else outcome.removed.push({ ...bare(thing), bytes: taken.bytes })
}

const bare = ({ kind, id, name, bytes }: Thing): Thing => ({ kind, id, name, bytes })

const whyLeft = (error: unknown) =>
  error instanceof Failure ? error.message : 'the clean-up broke off before it'
