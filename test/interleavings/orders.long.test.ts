import { expect, test } from 'bun:test'
import { allWell, patience, runOrders } from './run-orders.ts'

const [count, parts] = [2500, 2]

for (let part = 0; part < parts; part++) {
  const seed = Math.floor(Math.random() * 1e9)
  test.concurrent(
    `one live release and nothing left over after ${count} orders from seed ${seed} on`,
    async () => expect(await runOrders(seed, count)).toEqual(allWell),
    patience(count),
  )
}
