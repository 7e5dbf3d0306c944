import { describe, expect, test } from 'bun:test'
import { keptSeeds } from './kept-seeds.ts'
import { allWell, patience, runOrders } from './run-orders.ts'

/** A seed of a failed run: that order alone is run, and told step by step. */
const asked = process.env.DAVIT_SEED

const any = Math.floor(Math.random() * 1e9)

type Run = { seed: number; count: number; isCalm?: boolean; what: string }

const runs: Run[] = asked
  ? [{ seed: Number(asked), count: 1, what: 'as asked for' }]
  : [
      { seed: 1_000_000, count: 300, what: 'always the same' },
      { seed: any, count: 60, what: `from seed ${any} on` },
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
