import { describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/platform/errors.ts'
import { compilePattern } from '../../../src/services/compose/pattern.ts'
import { askedFor, fillValues, withDerived } from '../../../src/services/compose/values.ts'
import type { Generate, Variable } from '../../../src/services/compose/variables.ts'
import { variable } from '../../../src/services/compose/variables.ts'
import { refusalOf } from './refusal.ts'

const all = (...list: Variable[]) => new Map(list.map((one) => [one.name, one]))
const pairs = (of: Record<string, string>) => new Map(Object.entries(of))
const made = (generate: Generate, ...others: Variable[]) =>
  fillValues(all(variable('V', { generate }), ...others), { given: new Map() }).get('V')!

describe('a value is made', () => {
  test('of letters and digits, each as likely as the next', () => {
    const text = made({ kind: 'text', length: 1024, alphabet: 'alphanumeric' })
    expect(text).toMatch(/^[A-Za-z0-9]{1024}$/)
    const counts = new Map<string, number>()
    const rounds = 200
    for (let i = 0; i < rounds; i++)
      for (const char of made({ kind: 'text', length: 1024, alphabet: 'alphanumeric' }))
        counts.set(char, (counts.get(char) ?? 0) + 1)
    const expected = (rounds * 1024) / 62
    expect(counts.size).toBe(62)
    // a byte taken modulo 62 would make the first eight letters a quarter more frequent
    for (const count of counts.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.12)
  })

  test('as hex of that many characters, as base64 of that many bytes, as a UUID', () => {
    expect(made({ kind: 'hex', length: 63 })).toMatch(/^[0-9a-f]{63}$/)
    expect(Buffer.from(made({ kind: 'base64', length: 33 }), 'base64')).toHaveLength(33)
    expect(made({ kind: 'uuid' })).toMatch(/^[0-9a-f-]{36}$/)
    expect(made({ kind: 'text', length: 16, alphabet: 'lowercase' })).toMatch(/^[a-z0-9]{16}$/)
  })

  test('as a token signed with another variable, which is made first', async () => {
    const generate: Generate = {
      kind: 'jwt',
      key: 'KEY',
      claims: { role: 'anon' },
      seconds: 60,
    }
    const values = fillValues(
      all(variable('V', { generate }), variable('KEY', { generate: { kind: 'hex', length: 64 } })),
      { given: new Map() },
    )
    const [head, body, signature] = values.get('V')!.split('.')
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(read(head!)).toEqual({ alg: 'HS256', typ: 'JWT' })
    const claims = read(body!)
    expect(claims).toEqual({ role: 'anon', iat: expect.any(Number), exp: claims.iat + 60 })
    const hmac = { name: 'HMAC', hash: 'SHA-256' }
    const bytes = new TextEncoder().encode(values.get('KEY'))
    const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['verify'])
    const signed = new TextEncoder().encode(`${head}.${body}`)
    const right = Buffer.from(signature!, 'base64url')
    expect(await crypto.subtle.verify('HMAC', key, right, signed)).toBe(true)
  })

  test('once: existing values are never regenerated', () => {
    const variables = all(variable('V', { generate: { kind: 'uuid' } }))
    const kept = fillValues(variables, { given: new Map() })
    expect(fillValues(variables, { given: new Map(), kept })).toEqual(kept)
    expect(fillValues(variables, { given: pairs({ V: '' }), kept })).toEqual(kept)
    expect(fillValues(variables, { given: pairs({ V: 'own' }), kept }).get('V')).toBe('own')
  })

  test('from addresses each time, and not kept', () => {
    const variables = all(
      variable('URL', {
        generate: { kind: 'address', form: 'url', service: 'web', port: null },
        hidden: true,
      }),
      variable('HOST', {
        generate: { kind: 'address', form: 'host', service: 'web', port: 80 },
        hidden: true,
      }),
      variable('BOTH', {
        generate: { kind: 'composed', parts: ['<', { variable: 'URL' }, '>'] },
        hidden: true,
      }),
      variable('ASKED'),
    )
    const kept = fillValues(variables, { given: pairs({ ASKED: 'a' }) })
    expect(kept).toEqual(pairs({ ASKED: 'a' }))
    expect(withDerived(variables, kept, (_, port) => `http://h:${port ?? 1}/`)).toEqual(
      pairs({
        ASKED: 'a',
        URL: 'http://h:1',
        HOST: 'h',
        BOTH: '<http://h:1>',
        // where the host stands in an address, as in https://${HOST} or ${HOST}:80
        'HOST://': 'http://h:80/',
        'HOST:80': 'http://h:80/',
      }),
    )
    expect(askedFor(variables).map(({ name }) => name)).toEqual(['ASKED'])
  })

  test('not from variables that need each other', () => {
    const a = variable('A', { generate: { kind: 'jwt', key: 'B', claims: {}, seconds: null } })
    const b = variable('B', { generate: { kind: 'jwt', key: 'A', claims: {}, seconds: null } })
    expect(refusalOf(() => fillValues(all(a, b), { given: new Map() }))).toContain('A → B → A')
  })
})

describe('what the user gives', () => {
  test('stands byte by byte, over what was before, over the default', () => {
    const variables = all(variable('V', { default: 'd' }))
    const filled = (given: Record<string, string>, kept: Record<string, string> = {}) =>
      fillValues(variables, { given: pairs(given), kept: pairs(kept) }).get('V')
    expect(filled({})).toBe('d')
    expect(filled({}, { V: 'k' })).toBe('k')
    expect(filled({ V: ' ${A}\n' }, { V: 'k' })).toBe(' ${A}\n')
    expect(filled({ V: '' }, { V: 'k' })).toBe('')
  })

  test('may be nothing, which leaves the variable without a value', () => {
    const variables = all(variable('V'))
    expect(fillValues(variables, { given: pairs({ V: '' }) }).has('V')).toBe(false)
    expect(
      fillValues(variables, { given: pairs({ V: '' }), kept: pairs({ V: 'k' }) }).has('V'),
    ).toBe(false)
  })

  test('is refused with every field that is wrong', () => {
    const variables = all(
      variable('MUST', { required: true }),
      variable('PORT', { pattern: '^\\d+$' }),
      variable('SIZE', { options: ['small', 'large'] }),
      variable('NUL'),
      variable('LONG'),
      variable('MATCHED', { pattern: '^a*$' }),
      variable('OWN', { hidden: true }),
    )
    const given = pairs({
      MUST: '',
      PORT: '80; rm',
      SIZE: 'huge',
      NUL: 'a\0b',
      LONG: 'é'.repeat(16_385),
      MATCHED: 'a'.repeat(4097),
      OWN: 'x',
      OTHER: 'x',
      __proto__x: 'y',
    })
    try {
      fillValues(variables, { given })
      throw new Error('It was not refused.')
    } catch (error) {
      expect(error).toBeInstanceOf(AppError)
      const { code, fields } = error as AppError
      expect(code).toBe('invalid')
      expect(fields.map(({ field }) => field)).toEqual([
        'OWN',
        'OTHER',
        '__proto__x',
        'MUST',
        'PORT',
        'SIZE',
        'NUL',
        'LONG',
        'MATCHED',
      ])
      expect(fields[3]).toEqual({ field: 'MUST', message: 'must have a value.' })
    }
  })
})

describe('a pattern', () => {
  test.each([
    ['^[A-Za-z0-9_-]{8,}$', 'must be 8 or more of the letters A to Z, digits, _ and -.'],
    ['^[A-Za-z0-9_-]+$', 'must be 1 or more of the letters A to Z, digits, _ and -.'],
    ['^[A-Za-z0-9_-]{8}$', 'must match the pattern ^[A-Za-z0-9_-]{8}$ of the template.'],
  ])('%s is refused by its rule', (pattern, message) => {
    const variables = all(variable('P', { pattern }))
    const refuse = () => fillValues(variables, { given: pairs({ P: 'a b' }) })
    expect(refusalOf(refuse)).toContain(message)
  })

  const patterns = [
    '^[a-z0-9.-]+$',
    '^([a-z0-9-]+\\.)+[a-z]{2,}$',
    'a|b',
    '^(a|bc)*$',
    '^\\d{1,3}$',
    '^$',
    'x{2,3}',
    '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
    '^a$$',
    '^(?:https?:\\/\\/)?[\\w.-]+$',
    '.',
    'a?b*?c',
    '^(a{0,2}b){2}$',
    '^(?!ab)[a-c]+$',
    '^(?=a)(?!ac)[a-c]+$',
    '[\\]a]',
  ]

  test.each(patterns)('%s says the same as in JavaScript', (pattern) => {
    const [ours, theirs] = [compilePattern(pattern), new RegExp(pattern)]
    const letters = 'aabbcc.x1@-:/]h '
    for (let i = 0; i < 4000; i++) {
      let text = ''
      for (let n = (i * 7919) % 10; n > 0; n--)
        text += letters[(i * 31 + n * n * 17 + (i >> n)) % 16]
      if (ours(text) !== theirs.test(text)) throw new Error(`${pattern} on ${JSON.stringify(text)}`)
    }
  })

  test('that would take JavaScript years is done at once', () => {
    const begun = performance.now()
    expect(compilePattern('^(a+)+$')(`${'a'.repeat(4000)}b`)).toBe(false)
    expect(compilePattern('^(a|a)*$')(`${'a'.repeat(4000)}b`)).toBe(false)
    expect(compilePattern('^(.*a){12}$')(`${'a'.repeat(4000)}b`)).toBe(false)
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  test('that take long together are refused before they did', () => {
    const names = Array.from({ length: 100 }, (_, n) => `V${n}`)
    const variables = all(...names.map((name) => variable(name, { pattern: '.{0,400}b' })))
    const given = new Map(names.map((name) => [name, 'a'.repeat(4000)]))
    const begun = performance.now()
    expect(refusalOf(() => fillValues(variables, { given }))).toContain('takes too long to match')
    expect(performance.now() - begun).toBeLessThan(9000)
  })

  test.each([
    '(',
    ')',
    '[a',
    'a**',
    '*a',
    'a(?=b)',
    '(?<=a)b',
    '\\1',
    '((a{100}){100}){100}',
    'a{1000}b{1000}',
    'a{2,1}',
    '\\',
    '^(?!a)b|c',
    '^(?!a',
  ])('%s is refused', (pattern) => {
    expect(refusalOf(() => compilePattern(pattern))).toContain('The pattern')
  })
})
