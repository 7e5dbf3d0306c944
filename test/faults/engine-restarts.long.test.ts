import { expect, test } from 'bun:test'
import { restartTheEngine } from './engine-restarts.ts'

test('an engine that ends and comes back fails a build, and streams go on without a gap', async () => {
  expect((await restartTheEngine({ rounds: 1 })).bad).toBe(0)
})
