import { expect, test } from 'bun:test'
import { allWell, firstSeed, patience, runOrders } from './run-orders.ts'

for (const [fixed, count, ...kinds] of [
  [2_000_000, 1500, 'short'],
  [3_000_000, 1500, 'short'],
  [4_000_000, 500],
  [5_000_000, 500],
  [6_000_000, 1000, 'watched'],
] as const) {
  const seed = firstSeed(fixed)
  test.concurrent(
    `one live release and nothing left over after ${count} ${kinds} orders from seed ${seed} on`,
    async () => expect(await runOrders([seed, count, ...kinds])).toEqual(allWell),
    patience(count),
  )
}
