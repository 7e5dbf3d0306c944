import { expect, test } from 'bun:test'
import { killLoop } from './kill-loop.ts'
import { kills } from './kills.ts'

test('killed at any moment, Davit leaves nothing standing still, lost or without an owner', async () => {
  expect(await kills({ rounds: 1 })).toMatchObject({ bad: 0 })
}, 120_000)

test('killed again and again, Davit gives a deployment up in the end, and the app before it runs', async () => {
  expect(await killLoop({ rounds: 3 })).toMatchObject({ bad: 0 })
}, 120_000)
