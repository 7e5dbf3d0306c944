import { expect, test } from 'bun:test'
import { nearest } from '../../src/git/nearest.ts'

test('the name with the fewest changes is the nearest', () => {
  expect(nearest('mian', ['master', 'man', 'main', 'x'])[0]).toBeOneOf(['man', 'main'])
  expect(nearest('1.0.0', ['2.1.1', 'v1.0.0', '1.0'])[0]).toBe('v1.0.0')
  expect(nearest('a', [])).toEqual([])
})

test('names that are not compared for lack of time are there all the same', () => {
  const names = Array.from({ length: 1000 }, (_, i) => `${'x'.repeat(300)}${i}`)
  const found = nearest('abc', [...names, 'abd'], 1_000)
  expect(found).toHaveLength(1001)
  expect(found[0]).toBe('abd')
})
