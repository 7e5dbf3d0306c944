import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = readFileSync(join(import.meta.dir, '../assets/docs/security.md'), 'utf8')

test('the tests that the security model names are there', () => {
  const named = [...page.matchAll(/`([\w/-]+(?:\.long)?\.test\.tsx?)`/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((path) => !existsSync(join(import.meta.dir, path)))).toEqual([])
})
