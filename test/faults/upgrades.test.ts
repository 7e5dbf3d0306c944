import { expect, test } from 'bun:test'
import { killUpgrades } from './upgrades.ts'

test('an upgrade that is killed in its middle is done at the next start', async () => {
  expect((await killUpgrades({ rounds: 3, rows: 5000 })).bad).toBe(0)
})
