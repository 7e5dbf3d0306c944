import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { masking, tailOf } from '../../src/logs/mask.ts'

const secret = 'Zü&9/<it\'s é>"q" \\+%'

/** What programs print of it; `«…»` stands around what has to be hidden. */
const printed = readFileSync(join(import.meta.dir, 'spellings.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map((row) => row.split('\t') as [by: string, output: string])

const shown = (output: string) => output.replace(/«.*»/s, '***')

describe('of what is printed by', () => {
  const mask = masking([secret])
  test.each(printed)('%s, nothing of a secret shows', (_, output) => {
    expect(mask(output.replace(/[«»]/g, ''))).toBe(shown(output))
  })

  test.each(printed)('%s, nothing shows wherever it is cut', (_, output) => {
    const text = output.replace(/[«»]/g, '')
    const [before, after] = shown(output).split('***')
    const last = text.indexOf('q', text.indexOf('it')) // behind it are as many characters as are looked for
    for (let at = text.search(/9(?=\\?\/|%)/) + 1; at <= last; at++) {
      const [head, rest] = [text.slice(0, at), text.slice(at)]
      expect(mask(head, { cuts: { before: false, after: true } })).toBe(`${before}***`)
      const cuts = { before: true, after: false, tail: tailOf(head) }
      expect(mask(rest, { cuts })).toBe(`***${after}`)
    }
  })
})

describe('in base64', () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkq\n'.repeat(9)}-----END PRIVATE KEY-----\n`
  const of = (text: string) => Buffer.from(text).toString('base64')

  test.each(['', 'u:', 'ab:', 'abc:', 'admin:'])('a password is hidden behind “%s”', (user) => {
    for (const behind of ['', '\n', ' ', '"}']) {
      const masked = masking([secret])(`Basic ${of(user + secret + behind)}`)
      expect(masked).toStartWith(`Basic ${of(user).replace(/.=*$/, '')}`)
      const left = Buffer.from(masked.slice(6).replace('***', '    '), 'base64').toString('latin1')
      expect(left).not.toMatch(/[&9/<>q%]/)
      expect(masked.length).toBeLessThan(24)
    }
  })

  test('a key is hidden with either kind of line ends, in lines and within JSON', () => {
    const mask = masking([key])
    for (const text of [
      key,
      key.trim(),
      key.replaceAll('\n', '\r\n'),
      key.replace(/\n/g, '\r\n').trim(),
    ])
      for (const width of [64, 76, 9999])
        for (const line of of(text)
          .match(new RegExp(`.{1,${width}}`, 'g'))!
          .slice(0, -1))
          if (width < 9999 && !text.includes('\r')) expect(mask(line)).toBe('***')
    expect(mask(of(key.replaceAll('\n', '\r\n')))).toMatch(/^\*\*\*=*$/)
    expect(masking([key.replaceAll('\n', '\r\n')])(of(key))).toMatch(/^\*\*\*=*$/)
    const bytes = Buffer.from([...Array(200).keys()].map((n) => 251 + (n % 5))).toString('latin1')
    const slashes = of(bytes).replaceAll('/', '\\/').replaceAll('+', '\\u002b')
    expect(masking([bytes])(`{"k":"${slashes}"}`)).toMatch(/^\{"k":"\*\*\*=*"\}$/)
  })

  test('hexadecimal digits and lists of bytes are hidden too', () => {
    const bytes = Buffer.from(secret)
    const hex = bytes.toString('hex')
    const mask = masking([secret])
    expect(mask(`\\x${hex} ${hex.toUpperCase()}`)).toBe('\\x*** ***')
    expect(mask(`<Buffer ${hex.match(/../g)!.join(' ')}>`)).toBe('<Buffer ***>')
    for (const between of [' ', ', ', ',']) expect(mask(`[${bytes.join(between)}]`)).toBe('[***]')
  })
})

test('a secret that has escapes itself is hidden as it is, as it reads and in JSON', () => {
  for (const secret of ['%41%2f&amp;\\n%', 'C:\\new\\u0041bc', '{"k":"a\\nb c"}', "it's 'q'"]) {
    const mask = masking([secret])
    const json = JSON.stringify(secret)
    for (const text of [secret, json, JSON.stringify(json), encodeURIComponent(secret)])
      expect(mask(text)).toMatch(/^(\\*")*\*\*\*(\\*")*$/)
  }
  const key = { private_key: '-----BEGIN KEY-----\nAAAABBBB\n-----END KEY-----\n' }
  expect(masking([JSON.stringify(key)])('AAAABBBB')).toBe('***')
})

test('what has escapes and no secret stays as it is', () => {
  const mask = masking([secret, 'hunter2'])
  for (const text of [
    ...printed.map(([, output]) => shown(output)),
    '100% \\ & \u001b[31m"',
    '%%%\\\\',
  ])
    expect(mask(text)).toBe(text)
})
