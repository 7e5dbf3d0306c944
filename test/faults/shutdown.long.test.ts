import { expect, test } from 'bun:test'
import { shutdowns } from './shutdown.ts'

test('a stop answers what is under way, keeps the queue and tells viewers to come again', async () => {
  const report = await shutdowns({ rounds: 1, viewers: 20, requests: 20 })
  expect(report).toMatchObject({ bad: 0 })
}, 180_000)
