import { expect, test } from 'bun:test'
import { isSetupCode, setupCodeFor } from '../../src/accounts/setup-code.ts'
import { parseConfig } from '../../src/config.ts'

const codeFor = (host: string, url: string | null) =>
  setupCodeFor(parseConfig({ DAVIT_HOST: host, ...(url && { DAVIT_URL: url }) }))

test.each([
  ['127.0.0.1', null],
  ['127.0.0.1', 'http://localhost:3000'],
  ['localhost', 'http://127.0.0.1:3000'],
  ['::1', 'http://[::1]:3000'],
  ['127.8.8.8', 'https://localhost'],
])('listening on %s as %p needs none', (host, url) => expect(codeFor(host, url)).toBeNull())

test.each([
  ['0.0.0.0', null],
  ['::', null],
  ['192.168.1.5', null],
  ['127.0.0.1', 'https://davit.example.com'],
  ['0.0.0.0', 'http://localhost:3000'],
  ['127.0.0.1', 'http://localhost.example.com'],
  ['127.0.0.1.example.com', null],
])('listening on %s as %p wants one', (host, url) =>
  expect(codeFor(host, url)).toMatch(/^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/),
)

test('a domain needs one: others reach Davit through it', () => {
  const config = parseConfig({ DAVIT_DOMAIN: 'davit.example.com' })
  expect(setupCodeFor(config)).not.toBeNull()
})

test('it is another one at each start', () => {
  expect(codeFor('::', null)).not.toBe(codeFor('::', null))
})

test.each(['ABCD-EFGH-IJKL-MN23', 'abcd efgh ijkl mn23', 'abcdefghijklmn23'])('%p is it', (typed) =>
  expect(isSetupCode(typed, 'ABCD-EFGH-IJKL-MN23')).toBe(true),
)

test.each(['', '-', 'ABCD-EFGH-IJKL', 'ABCD-EFGH-IJKL-MN24', 'ABCD-EFGH-IJKL-MN23A'])(
  '%p is not',
  (typed) => expect(isSetupCode(typed, 'ABCD-EFGH-IJKL-MN23')).toBe(false),
)
