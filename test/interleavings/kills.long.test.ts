import { expect, test } from 'bun:test'
import { allWell, patience, runMain } from './run-orders.ts'

test(
  'a kill or a stop of Davit at any call of the engine leaves the old or the new, whole',
  async () => expect(await runMain(['--kills'])).toEqual(allWell),
  patience(1500),
)
