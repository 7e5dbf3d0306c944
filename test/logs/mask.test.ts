import { describe, expect, test } from 'bun:test'
import { masking } from '../../src/logs/mask.ts'

const secret = 'p@ss w/rd+ü"\\x'
const long = 'k'.repeat(20) + crypto.randomUUID().repeat(4)

describe('a secret is masked', () => {
  const forms: Record<string, string> = {
    'as it is': secret,
    'in base64': Buffer.from(secret).toString('base64'),
    'in base64 without padding': Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    'in base64 with the newline of echo': Buffer.from(`${secret}\n`).toString('base64'),
    'in base64url': Buffer.from(secret).toString('base64url'),
    'in a URL': encodeURIComponent(secret),
    'in a form': new URLSearchParams({ x: secret }).toString().slice(2),
    'in JSON': JSON.stringify(secret),
  }
  for (const [name, form] of Object.entries(forms))
    test(name, () => {
      const masked = masking([secret])(`before ${form} after`)
      expect(masked).toMatch(/^before "?\*\*\*=*"? after$/)
    })

  test('in base64 that is broken into lines', () => {
    const lines = Buffer.from(long)
      .toString('base64')
      .match(/.{1,76}/g)!
    for (const line of lines.slice(0, -1)) expect(masking([long])(line)).toBe('***')
  })

  test('line by line when it has several', () => {
    const mask = masking(['-----BEGIN KEY-----\nAAAABBBB\r\nCCCCDDDD\n-----END KEY-----\n'])
    expect(mask('AAAABBBB')).toBe('***')
    expect(mask('  CCCCDDDD  ')).toBe('  ***  ')
  })

  test('wherever it stands, and as often', () => {
    expect(masking(['hunter2'])('hunter2hunter2 x=hunter2')).toBe('****** x=***')
  })
})

test('of two secrets of which one begins the other the longer is masked whole', () => {
  expect(masking(['token', 'token-and-more'])('token-and-more token')).toBe('*** ***')
})

test('what means something in a pattern is taken as it is', () => {
  expect(masking(['a.*b$'])('a.*b$ axxb')).toBe('*** axxb')
})

test('what is too short to be a secret stays readable', () => {
  expect(masking(['yes', ''])('yes, indeed')).toBe('yes, indeed')
})
