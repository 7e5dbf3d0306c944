import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  hashToken,
  openSecrets,
  randomCode,
  randomToken,
  sameSecret,
  Secrets,
} from '../../src/platform/secrets.ts'

const secrets = new Secrets('a secret of the tests, 32 bytes long')
const context = 'variable 1'

describe('a sealed value', () => {
  test.each(['', 'x', 'a line\nand another\0', '🚢', 'x'.repeat(100_000)])(
    'opens again: %#',
    (text) => expect(secrets.open(secrets.seal(text, context), context)).toBe(text),
  )

  test('is another one each time, and reveals nothing about the text', () => {
    const [one, two] = [secrets.seal('hunter22', context), secrets.seal('hunter22', context)]
    expect(one).not.toBe(two)
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toContain('hunter22')
  })

  test('does not open once any of its bytes has changed', () => {
    const bytes = Buffer.from(secrets.seal('hunter22', context), 'base64url')
    expect(bytes).toHaveLength(12 + 16 + 8)
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i]! ^= 1
      expect(() => secrets.open(changed.toString('base64url'), context)).toThrow()
    }
  })

  test('does not open when it is cut', () => {
    const sealed = secrets.seal('hunter22', context)
    for (let length = 0; length < sealed.length - 1; length++)
      expect(() => secrets.open(sealed.slice(0, length), context)).toThrow()
  })

  test('does not open elsewhere: in another row, under another key', () => {
    const sealed = secrets.seal('hunter22', context)
    expect(() => secrets.open(sealed, 'variable 2')).toThrow()
    expect(() => secrets.open(sealed, '')).toThrow()
    const others = new Secrets('another secret, also 32 bytes long')
    expect(() => others.open(sealed, context)).toThrow()
  })

  test.each(['', 'x', 'plain text', '\0', 'A'.repeat(38)])('is not just any text: %p', (text) =>
    expect(() => secrets.open(text, context)).toThrow(),
  )
})

test('a signature is HMAC-SHA-256 under a key of its own, the same each time', () => {
  expect(secrets.sign('message')).toMatch(/^[0-9a-f]{64}$/)
  expect(secrets.sign('message')).toBe(secrets.sign('message'))
  expect(secrets.sign('message')).not.toBe(secrets.sign('messagf'))
  expect(secrets.sign('message')).not.toBe(new Secrets('another').sign('message'))
})

test('a token’s hash is its SHA-256', () => {
  expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('random texts fit where they go, and never come twice', () => {
  const tokens = Array.from({ length: 1000 }, randomToken)
  const codes = Array.from({ length: 1000 }, randomCode)
  expect(tokens.filter((token) => !/^[\w-]{43}$/.test(token))).toEqual([])
  expect(codes.filter((code) => !/^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/.test(code))).toEqual([])
  expect(new Set([...tokens, ...codes]).size).toBe(2000)
})

test.each([
  ['', '', true],
  ['same', 'same', true],
  ['same', 'Same', false],
  ['same', 'same ', false],
  ['', 'x', false],
  ['é', 'e\u0301', false],
])('%p and %p are the same secret: %p', (a, b, same) => expect(sameSecret(a, b)).toBe(same))

describe('the secret of an installation', () => {
  const made: string[] = []
  function dataDir() {
    made.push(mkdtempSync(join(tmpdir(), 'davit-secrets-')))
    return made.at(-1)!
  }
  afterEach(() => {
    for (const path of made.splice(0)) rmSync(path, { recursive: true })
  })

  test('is made at the first start, for its owner only, and kept', () => {
    const dir = dataDir()
    const sealed = openSecrets({ dataDir: dir, secretKey: null }).seal('x', context)
    const path = join(dir, 'secret.key')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toMatch(/^[\w-]{43}\n$/)
    expect(openSecrets({ dataDir: dir, secretKey: null }).open(sealed, context)).toBe('x')
  })

  test('is another one in another data directory', () => {
    const sealed = openSecrets({ dataDir: dataDir(), secretKey: null }).seal('x', context)
    const other = openSecrets({ dataDir: dataDir(), secretKey: null })
    expect(() => other.open(sealed, context)).toThrow()
  })

  test('is the configured one where there is one, and no file is made', () => {
    const dir = dataDir()
    const secretKey = 'a configured secret of 32 bytes or more'
    const sealed = openSecrets({ dataDir: dir, secretKey }).seal('x', context)
    expect(new Secrets(secretKey).open(sealed, context)).toBe('x')
    expect(() => statSync(join(dir, 'secret.key'))).toThrow()
  })

  test('is never the empty text of a file that was cut', () => {
    const dir = dataDir()
    writeFileSync(join(dir, 'secret.key'), '\n')
    expect(() => openSecrets({ dataDir: dir, secretKey: null })).toThrow('secret.key')
  })
})
