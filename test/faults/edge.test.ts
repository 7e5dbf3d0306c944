import { expect, test } from 'bun:test'
import { deploysUnderLoad } from './edge-deploys.ts'

test('no visitor notices a deploy', async () => {
  const { bad, figures } = await deploysUnderLoad({ rounds: 3 })
  expect([bad, figures]).toEqual([0, expect.stringContaining('0 of')])
})
