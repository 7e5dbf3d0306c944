import { expect, test } from 'bun:test'
import { allWell, patience, runMain } from './run-orders.ts'

for (const [where, ...options] of [
  ['by their own ports'],
  ['behind an edge', '--edge'],
  ['on several servers', '--servers'],
] as const)
  test(
    `a kill or a stop of Davit at any call of the engine leaves the old or the new, whole, ${where}`,
    async () => expect(await runMain(['--kills=', ...options])).toEqual(allWell),
    patience(1500),
  )
