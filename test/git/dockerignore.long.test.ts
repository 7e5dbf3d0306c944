import { expect, test } from 'bun:test'
import { ignoredPaths } from '../../src/git/dockerignore.ts'

test('13,000 patterns are too many for 100,000 files of one folder', () => {
  const paths = Array.from({ length: 100_000 }, (_, i) => `${'xa'.repeat(10)}${i}\0`).join('')
  const read = () => ignoredPaths('*a*b\n'.repeat(13_000), paths, { file: '.dockerignore' })
  expect(read).toThrow('takes too long')
})
