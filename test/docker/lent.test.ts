import { expect, test } from 'bun:test'
import { giveBack, lend } from '../../src/docker/lent.ts'

const chunkOf = (bytes: number) => new Uint8Array(bytes).fill(1)

test('a chunk is freed with the last of its pieces that is given back', () => {
  const chunk = chunkOf(100)
  const pieces = [chunk.subarray(8, 40), chunk.subarray(48)]
  lend(chunk, [chunkOf(46), ...pieces])
  giveBack(pieces[0]!.subarray(0, 2))
  giveBack(pieces[0]!.subarray(2))
  expect(pieces[1]).toEqual(chunkOf(52))
  giveBack(pieces[1]!)
  expect([chunk.length, pieces[1]!.length]).toEqual([0, 0])
})

test('what has memory in common with other data, or wasn’t lent, is never freed', () => {
  const shared = chunkOf(200).subarray(0, 100)
  lend(shared, [shared])
  giveBack(shared)
  expect(shared.length).toBe(100)
  const own = chunkOf(100)
  giveBack(own)
  expect(own.length).toBe(100)
})
