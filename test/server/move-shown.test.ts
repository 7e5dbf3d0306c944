import { describe, expect, test } from 'bun:test'
import { inLines, inOneLine } from '../../src/platform/terminal-text.ts'
import { tagIn } from '../../src/server/move/contents.ts'
import { changesOf, describeDns } from '../../src/server/move/dns.ts'
import { lineOf, messagesIn } from '../../src/server/move/messages.ts'
import { compareVisits, stableOf } from '../../src/server/move/visit.ts'

test('an app is compared by its status; what its page has is only shown', () => {
  const one = { id: 'a', name: 'shop', status: 200, length: 9, title: 'Shop' }
  const [stable] = stableOf([one], [{ ...one, length: 10 }])
  expect(stable).toEqual({ ...one, length: null })
  expect(compareVisits([stable!], [{ ...one, length: 11 }]).changed).toEqual([])
  const there = (now: object) => compareVisits([one], [{ ...one, ...now }])
  const nothing = { alike: [], unlike: [], changed: [] }
  expect(there({})).toEqual({ ...nothing, alike: ['shop: status 200'] })
  expect(there({ title: null })).toEqual({
    ...nothing,
    changed: ['shop: status 200, but its title is “”, not “Shop”'],
  })
  const unlike = (is: string) => ({
    ...nothing,
    unlike: [`shop responds differently there: ${is}`],
  })
  expect(there({ status: 502 })).toEqual(unlike('its status is 502, not 200'))
  expect(there({ status: null })).toEqual(unlike('it doesn’t respond'))
  expect(compareVisits([one], [])).toEqual(unlike('it doesn’t respond'))
  // one that doesn’t respond here has nothing to compare
  expect(compareVisits([{ ...one, status: null }], [one]).unlike).toEqual([])
})

describe('what the other server says', () => {
  const turns = 'shop \u001b]0;mine\u0007\u202e\u009b2J\nContinue? [y/N]'
  test('can’t order a terminal anything', async () => {
    async function* said() {
      yield lineOf({ failed: { code: 'x', message: turns, hint: '' } })
    }
    const [read] = await Array.fromAsync(messagesIn(said(), inOneLine))
    expect(read).toMatchObject({
      failed: { message: 'shop �]0;mine���2J Continue? [y/N]' },
    })
    expect(inLines(turns)).toBe('shop �]0;mine���2J\nContinue? [y/N]')
  })

  test('is shown as it is where it is text of any script', () => {
    for (const text of ['🚢 Häfen', 'متجر\u200f', '店']) expect(inOneLine(text)).toBe(text)
  })
})

test('an image gets its name by a tag only', () => {
  expect(tagIn('postgres:17')).toBe('postgres:17')
  expect(tagIn('registry:5000/shop')).toBe('registry:5000/shop:latest')
  expect(tagIn(`postgres@sha256:${'a'.repeat(64)}`)).toBeNull()
  expect(tagIn(`sha256:${'a'.repeat(64)}`)).toBeNull()
})

describe('DNS records', () => {
  const here = ['192.0.2.1']
  const found = (addresses: string[], problem: 'missing' | 'silent' | null = null) => ({
    ...{ host: 'example.com', addresses, problem },
  })
  const lines = (answer: ReturnType<typeof found>, to: string[]) =>
    describeDns(changesOf(answer, { to, here, newServer: 'new' }))

  test('are a table of what to change to what', () => {
    const to = ['192.0.2.2', '2001:db8::2']
    expect(lines(found(here), to)).toEqual([
      '  example.com  A     192.0.2.1 → 192.0.2.2',
      '  example.com  AAAA  none → 2001:db8::2',
    ])
    expect(lines(found(to), to)).toEqual([])
    expect(lines(found([], 'silent'), ['192.0.2.2'])).toEqual([
      '  example.com  A     unknown, no DNS server says it → 192.0.2.2',
    ])
  })

  test('lead to the public address of the new server where only people know it', () => {
    const to = '→ the public address of new'
    expect(lines(found(here), [])).toEqual([`  example.com  A     192.0.2.1 ${to}`])
    expect(lines(found([], 'missing'), [])).toEqual([`  example.com  A     none ${to}`])
  })

  test('that lead to a proxy or elsewhere are marked', () => {
    const [line] = lines(found(['198.51.100.7']), ['192.0.2.2'])
    expect(line).toStartWith('  example.com  A     198.51.100.7 → 192.0.2.2 (doesn’t lead to this')
  })
})
