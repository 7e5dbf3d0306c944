import { expect, test } from 'bun:test'
import { greedyBuilds } from './greedy-builds.ts'

test('a build that takes too much memory ends alone, with words for it, whichever the builder', async () => {
  expect(await greedyBuilds({ rounds: 2 })).toMatchObject({ bad: 0 })
}, 120_000)
