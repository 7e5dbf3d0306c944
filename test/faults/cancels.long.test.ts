import { expect, test } from 'bun:test'
import { cancels } from './cancels.ts'

test('cancelled in any state, a deployment comes to one end and leaves nothing', async () => {
  expect(await cancels({ rounds: 1 })).toMatchObject({ bad: 0 })
}, 180_000)
