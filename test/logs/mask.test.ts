import { describe, expect, test } from 'bun:test'
import { keptTexts, LineAssembler } from '../../src/logs/assemble.ts'
import { masking, PieceMask, SecretSet } from '../../src/logs/mask.ts'

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

describe('of a line that was cut', () => {
  const [secret, other] = ['correct-horse-battery', 'horse-riding']
  const [before, after] = [
    { cuts: { before: true, after: false } },
    { cuts: { before: false, after: true } },
  ]

  test('neither piece shows a part of the secret that lies across', () => {
    const mask = masking([secret, other])
    for (let at = 4; at <= secret.length - 4; at++) {
      expect(mask(`x ${secret.slice(0, at)}`, after)).toBe('x ***')
      expect(mask(`${secret.slice(at)} x`, before)).toBe('*** x')
    }
    const encoded = Buffer.from(secret).toString('base64')
    expect(mask(`x ${encoded.slice(0, 15)}`, after)).toBe('x ***')
  })

  test('a piece is hidden that is nothing but a part of a secret', () => {
    const long = crypto.randomUUID().repeat(10)
    expect(masking([long])(long.slice(50, 250), { cuts: { before: true, after: true } })).toBe(
      '***',
    )
  })

  test('a secret that is whole stays hidden, whatever else ends there', () => {
    const mask = masking(['token', 'token-and-more', 'more-or-less'])
    expect(mask('a token-and-more', after)).toBe('a ***')
    expect(mask('a token-and-mo', after)).toBe('a ***')
    expect(mask('and-more token, b', before)).toBe('*** ***, b')
  })

  test('what only looks alike elsewhere stays readable', () => {
    const mask = masking([secret])
    expect(mask('correct me', after)).toBe('correct me')
    expect(mask('a battery', before)).toBe('a battery')
    expect(mask('correct-horse', before)).toBe('correct-horse')
    expect(mask('', { cuts: { before: true, after: true } })).toBe('')
  })
})

test('the pieces of a long line show nothing of a secret between them, of each stream by itself', () => {
  const secret = 'correct-horse-battery'
  const mask = masking([secret])
  const pieces = new PieceMask<'stdout' | 'stderr'>()
  const first = `${'x'.repeat(16_374)}${secret.slice(0, 10)}`
  expect(pieces.apply(mask, { stream: 'stdout', text: first })).toEndWith('x***')
  expect(pieces.apply(mask, { stream: 'stderr', text: 'rse-battery' })).toBe('rse-battery')
  expect(pieces.apply(mask, { stream: 'stdout', text: secret.slice(10) })).toBe('***')
  expect(pieces.apply(mask, { stream: 'stdout', text: secret.slice(10) })).toBe(secret.slice(10))
})

test('an escape that lies across two pieces hides the secret in both', () => {
  const mask = masking(['correct-horse&battery'])
  const pieces = new PieceMask<'stdout'>()
  const first = `${'x'.repeat(16_366)}correct-horse\\\\u00`
  expect(pieces.apply(mask, { stream: 'stdout', text: first })).toEndWith('x***')
  expect(pieces.apply(mask, { stream: 'stdout', text: '26battery"' })).toBe('***"')
})

test('the pieces of a line of a build hide a secret across them, with those of other steps between', () => {
  const mask = masking(['correct-horse-battery'])
  const pieces = new PieceMask<'stdout'>()
  const apply = (text: string) => pieces.apply(mask, { stream: 'stdout', text })
  expect(apply(`#5 ${'x'.repeat(16_371)}correct-ho`)).toEndWith('x***')
  expect(apply('#6 other')).toBe('#6 other')
  expect(apply('#5 rse-battery, done')).toBe('#5 ***, done')
  expect(apply('#5 rse-battery')).toBe('#5 rse-battery')
})

test.each([
  ['correct-ho', 'rse-battery'],
  ['correct\\u00', '2dhorse-battery'],
])('of a line that is taken without its end at %s, no secret shows at the cut', (head, rest) => {
  const lines = new LineAssembler()
  const push = (text: string, ended = false) =>
    lines.push({
      stream: 'stdout',
      timestamp: '2026-11-21T10:00:00.000000000Z',
      text,
      ended,
      position: { timestamp: '2026-11-21T10:00:00.000000000Z', stream: 'stdout', ordinal: 1 },
    })
  push(`${'x'.repeat(1024 * 1024)}${head}`)
  push(`${rest} end`, true)
  const mask = masking(['correct-horse-battery'])
  const texts = lines.take().lines.flatMap((line) => keptTexts(line, mask))
  expect(texts.join('')).toBe(`${'x'.repeat(1024 * 1024)}****** end`)
})

describe('what masking costs is bounded:', () => {
  /** Fifteen thousand different lines, all of which begin alike. */
  const shortLines = (from: number) =>
    Array.from({ length: 15_000 }, (_, n) => (from + n).toString(36).padStart(5, 'x')).join('\n')

  test('the lines of a secret of 96 KB are found, each of them', () => {
    const mask = masking([shortLines(0)])
    expect(mask('a xx2s7 b')).toBe('a *** b')
    expect(mask('a zzzzz b')).toBe('a zzzzz b')
  })

  test('where many begin as the text does, the rest of the line is hidden, and no more', () => {
    const mask = masking([shortLines(0), shortLines(15_000), shortLines(30_000)])
    const line = 'x'.repeat(16_384)
    const start = performance.now()
    for (let n = 0; n < 20; n++) expect(mask(`begins ${line}`)).toMatch(/^begins x*\*\*\*$/)
    expect(performance.now() - start).toBeLessThan(2000) // without the bound: minutes
    expect(mask('begins otherwise')).toBe('begins otherwise')
  })

  test('a secret that a text repeats without end is hidden', () => {
    const mask = masking([`${'a'.repeat(90_000)}b`])
    expect(mask('a'.repeat(1_000_000))).toMatch(/^a*\*\*\*$/)
    const cuts = { before: true, after: true }
    expect(mask('a'.repeat(16_384), { cuts })).toBe('***')
  })

  test('of more than can be stored, everything is hidden', () => {
    const mask = masking(Array.from({ length: 40 }, (_, n) => shortLines(n * 15_000)))
    expect(mask('whatever it says')).toBe('***')
  })
})

test('what ceased to be secret is hidden in what was written before', () => {
  const set = new SecretSet()
  set.add('once-secret', 1000)
  set.add('secret-today')
  expect(set.mask('once-secret secret-today', { since: 999 })).toBe('*** ***')
  expect(set.mask('once-secret secret-today', { since: 1001 })).toBe('once-secret ***')
  expect(set.mask('once-secret secret-today')).toBe('*** ***')
  set.add('once-secret')
  expect(set.mask('once-secret', { since: 1001 })).toBe('***')
})
