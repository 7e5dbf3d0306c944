import type { CacheEntry } from '../../docker/index.ts'
import { ago } from '../../web/times.tsx'
import type { Verdict } from './kinds.ts'

/** Milliseconds without use after which the clean-up that runs by itself takes an entry. */
const idleAfter = 24 * 3_600_000

export const isIdle = ({ lastUsedAt }: CacheEntry, now: Date) =>
  lastUsedAt === null || now.getTime() - lastUsedAt.getTime() > idleAfter

/**
 * Entries go that no build uses, and that are neither part of an image nor what another was made from
 * that stays. In the order in which they can go: what was made from others before them.
 */
export function judgeBuildCache(entries: CacheEntry[], now = new Date()) {
  const needed = new Set<string>()
  return childrenFirst(entries).map((entry): { entry: CacheEntry; verdict: Verdict } => {
    const owner = 'builder'
    const need = needOf(entry, needed)
    if (!need) return { entry, verdict: { may: true, owner, reason: lastUse(entry, now) } }
    for (const parent of entry.parents) needed.add(parent)
    return { entry, verdict: { may: false, owner, reason: need } }
  })
}

function needOf({ id, inUse, shared }: CacheEntry, needed: Set<string>) {
  if (inUse) return 'a build uses it'
  if (shared) return 'it is part of an image, and can go after that'
  return needed.has(id) ? 'what was made from it stays' : null
}

const lastUse = ({ lastUsedAt }: CacheEntry, now: Date) =>
  lastUsedAt ? `last used ${ago(lastUsedAt, now)}` : 'never used since it was made'

function childrenFirst(entries: CacheEntry[]): CacheEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const depths = new Map<string, number>()
  for (const entry of entries) depthOf(entry)
  return entries.toSorted((a, b) => depths.get(b.id)! - depths.get(a.id)!)

  function depthOf({ id, parents }: CacheEntry): number {
    const known = depths.get(id)
    if (known !== undefined) return known
    depths.set(id, 0) // a circle, which there should not be, ends here
    const above = parents.flatMap((parent) => byId.get(parent) ?? []).map(depthOf)
    const depth = 1 + Math.max(-1, ...above)
    depths.set(id, depth)
    return depth
  }
}
