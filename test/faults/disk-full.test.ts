import { expect, test } from 'bun:test'
import { fillTheDisk } from './disk-full.ts'

test('on a full disk all is read, nothing is half written, and with room all goes on', async () => {
  expect((await fillTheDisk({ rounds: 1 })).bad).toBe(0)
})
