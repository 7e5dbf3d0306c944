import { expect, test } from 'bun:test'
import { onDemand } from '../../src/platform/on-demand.ts'

test('a value is loaded when it is first asked for, once for all who ask', async () => {
  let loads = 0
  const value = onDemand(() => ++loads)
  expect(loads).toBe(0)
  expect(await Promise.all([value(), value()])).toEqual([1, 1])
  expect(await value()).toBe(1)
})

test('a load that fails is not kept', async () => {
  let loads = 0
  const value = onDemand(() => {
    if (++loads === 1) throw new Error('not yet')
    return loads
  })
  const both = await Promise.allSettled([value(), value()])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect([await value(), await value()]).toEqual([2, 2])
})
