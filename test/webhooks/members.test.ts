import { describe, expect, test } from 'bun:test'
import { MemberReader } from '../../src/webhooks/members.ts'

const names = ['ref', 'number', 'none', 'list', 'text', 'commits', 'after']

/** Reads the text in pieces of so many bytes. */
function read(json: string | Uint8Array, { size = 7, wanted = names } = {}) {
  const bytes = Buffer.from(json as string)
  const reader = new MemberReader(wanted)
  for (let at = 0; at < bytes.length; at += size) {
    const lent = Buffer.from(bytes.subarray(at, at + size))
    reader.push(lent)
    lent.fill(0)
  }
  const found = reader.end()
  return found && `{${Array.from(found, ([name, value]) => `"${name}":${value}`).join(',')}}`
}

const large = 'x'.repeat(600_000)

const small = {
  ref: 'refs/heads/main',
  number: 1.5,
  none: null,
  list: [1, { a: '}]', ref: 'inner' }],
  text: 'quotes " and \\ and \\" and ü\u2028',
}

test.each([1, 2, 7, 64, 1_000_000])(
  'what is asked for is found, whatever stands around it, in pieces of %d bytes',
  (size) => {
    const json = { one: { ref: 'x', a: [['}']] }, ...small, '': {}, two: 'ref":"y"', 'r\\"ef': 1 }
    expect(JSON.parse(read(JSON.stringify(json), { size })!)).toEqual(small)
    expect(JSON.parse(read(` ${JSON.stringify(json, null, '\t')}\n`, { size })!)).toEqual(small)
  },
)

test.each([
  '',
  '  ',
  '[1,2]',
  '"x"',
  '{"ref":1',
  '{"ref":"1}',
  '{"ref":1}}',
  '{"ref":1} x',
  'x {"ref":1}',
  '{"ref":[1}',
  '['.repeat(100_000),
])('%p is no object', (json) => expect(read(json)).toBeNull())

test('an object of nothing is one', () => expect(read(' { } ')).toBe('{}'))

test('of duplicate names the last counts', () => {
  expect(read('{"ref":1,"after":3,"ref":2}')).toBe('{"after":3,"ref":2}')
  expect(read(`{"ref":1,"ref":"${large}"}`, { size: 65_536 })).toBe('{}')
})

test('a member that is too large is left out, and so is what is too much together', () => {
  const json = JSON.stringify({ ref: 'x', commits: large, after: 'y' })
  expect(read(json, { size: 65_536 })).toBe('{"ref":"x","after":"y"}')
  const wanted = Array.from({ length: 10 }, (_, n) => `m${n}`)
  const many = Object.fromEntries(wanted.map((name) => [name, 'x'.repeat(200_000)]))
  const kept = JSON.parse(read(JSON.stringify(many), { size: 65_536, wanted })!)
  expect(Object.keys(kept)).toEqual(['m0', 'm1', 'm2'])
})

test('what is not UTF-8 is refused where it is read', () => {
  const bytes = Buffer.from('{"ref":"?","other":"!"}')
  bytes[bytes.indexOf('!')] = 0xff
  expect(read(bytes)).toBe('{"ref":"?"}')
  bytes[bytes.indexOf('?')] = 0xff
  expect(read(bytes)).toBeNull()
})

describe('an object of millions of members', () => {
  test('is refused after the first of them', () => {
    expect(read(`{${'"":0,'.repeat(20_000)}"ref":"x"}`)).toBeNull()
    expect(read(`{${'"":0,'.repeat(500)}"ref":"x"}`)).toBe('{"ref":"x"}')
  })

  test('in a member that is not read costs nothing', () => {
    expect(read(`{"other":{${'"":0,'.repeat(20_000)}"":0},"ref":"x"}`)).toBe('{"ref":"x"}')
  })
})
