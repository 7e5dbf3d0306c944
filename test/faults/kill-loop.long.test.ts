import { expect, test } from 'bun:test'
import { killLoop } from './kill-loop.ts'

test('killed again and again, Davit gives a deployment up in the end, and the app before it runs', async () => {
  expect(await killLoop({ rounds: 2 })).toMatchObject({ bad: 0 })
}, 180_000)
