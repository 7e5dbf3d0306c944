import { expect, test } from 'bun:test'
import { slowHeaders } from './slow-headers.ts'

test('who sends a request a byte a second keeps no one out, and is left', async () => {
  expect(await slowHeaders({ rounds: 500 })).toMatchObject({ bad: 0 })
})
