import { describe, expect, test } from 'bun:test'
import { keptSeeds } from './kept-seeds.ts'
import { allWell, firstSeed, patience, runOrders } from './run-orders.ts'

/** A seed of a failed run: that order alone is run, and told step by step. */
const asked = Number(process.env.DAVIT_SEED)

type Run = { seed: number; count: number; isCalm?: boolean; what: string }

const first = firstSeed(1_000_000)

const runs: Run[] = asked
  ? [{ seed: asked, count: 1, what: 'as asked for' }]
  : [
      { seed: first, count: 150, what: `from seed ${first} on` },
      ...keptSeeds.map(({ seed, isCalm, bug }) => ({
        ...{ seed, isCalm, count: 1 },
        what: `seed ${seed}, where ${bug}`,
      })),
    ]

describe('whatever users, kills and faults do, in whichever order, one release is live, and nothing is left over or stuck:', () => {
  for (const { seed, count, isCalm, what } of runs)
    test(
      `${count} ${count === 1 ? 'order' : 'orders'}, ${what}`,
      async () => expect(await runOrders(seed, count, isCalm)).toEqual(allWell),
      patience(count),
    )
})
