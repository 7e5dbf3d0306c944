import { expect, test } from 'bun:test'
import { kills } from './kills.ts'

test('killed at any moment, Davit leaves nothing standing still, lost or without an owner', async () => {
  expect(await kills({ rounds: 1 })).toMatchObject({ bad: 0 })
}, 180_000)
