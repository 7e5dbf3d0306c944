import { expect, test } from 'bun:test'
import { soak } from './soak.ts'

test('rounds of deployments, logs and streams leave nothing behind', async () => {
  expect(await soak({ seconds: 0, warmUp: 1 })).toMatchObject({ bad: 0 })
})
