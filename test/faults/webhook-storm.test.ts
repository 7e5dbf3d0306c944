import { expect, test } from 'bun:test'
import { webhookStorm } from './webhook-storm.ts'

test('a delivery that was acknowledged is there after a kill, once, with what it deploys', async () => {
  const report = await webhookStorm({ rounds: 3 })
  expect(report).toMatchObject({ bad: 0 })
  expect(report.rounds).toBeGreaterThan(0)
}, 60_000)
