import { expect, test } from 'bun:test'
import { allWell, firstSeed, patience, runOrders } from './run-orders.ts'

const count = 600

for (const fixed of [2_000_000, 3_000_000]) {
  const seed = firstSeed(fixed)
  test.concurrent(
    `one live release and nothing left over after ${count} orders from seed ${seed} on`,
    async () => expect(await runOrders(seed, count)).toEqual(allWell),
    patience(count),
  )
}
