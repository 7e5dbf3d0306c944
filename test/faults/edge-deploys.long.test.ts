import { expect, test } from 'bun:test'
import { deploysUnderLoad, failuresUnderLoad, rollbacksUnderLoad } from './edge-deploys.ts'

test('no visitor notices ten deploys', async () => {
  expect((await deploysUnderLoad({ rounds: 10 })).bad).toBe(0)
}, 600_000)

test('no visitor notices five rollbacks', async () => {
  expect((await rollbacksUnderLoad({ rounds: 5 })).bad).toBe(0)
}, 600_000)

test('no visitor reaches a version that fails its gate', async () => {
  expect((await failuresUnderLoad({ rounds: 5 })).bad).toBe(0)
}, 600_000)
