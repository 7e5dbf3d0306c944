import { expect, test } from 'bun:test'
import {
  deploysUnderLoad,
  failuresUnderLoad,
  killsUnderLoad,
  rollbacksUnderLoad,
} from './edge-deploys.ts'

test('no visitor notices 50 deploys', async () => {
  expect((await deploysUnderLoad({ rounds: 50 })).bad).toBe(0)
}, 1_800_000)

test('no visitor notices 20 rollbacks', async () => {
  expect((await rollbacksUnderLoad({ rounds: 20 })).bad).toBe(0)
}, 900_000)

test('no visitor reaches a version that fails its gate', async () => {
  expect((await failuresUnderLoad({ rounds: 20 })).bad).toBe(0)
}, 900_000)

test('no visitor notices that Davit is killed in the middle of a deploy', async () => {
  expect((await killsUnderLoad({ rounds: 10 })).bad).toBe(0)
}, 900_000)
