import { describe, expect, test } from 'bun:test'
import { membersIn } from '../../src/webhooks/payload.ts'

const names = ['ref', 'number', 'none', 'list', 'text', 'commits', 'after']

async function read(json: string | Uint8Array, wanted = names) {
  const found = await membersIn(Buffer.from(json as string), wanted)
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

test('what is asked for is found, whatever stands around it', async () => {
  const json = { one: { ref: 'x', a: [['}']] }, ...small, '': {}, two: 'ref":"y"', 'r\\"ef': 1 }
  expect(JSON.parse((await read(JSON.stringify(json)))!)).toEqual(small)
  expect(JSON.parse((await read(` ${JSON.stringify(json, null, '\t')}\n`))!)).toEqual(small)
})

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
])('%p is no object', async (json) => expect(await read(json)).toBeNull())

test('an object of nothing is one', async () => expect(await read(' { } ')).toBe('{}'))

test('of duplicate names the last counts', async () => {
  expect(await read('{"ref":1,"after":3,"ref":2}')).toBe('{"after":3,"ref":2}')
  expect(await read(`{"ref":1,"ref":"${large}"}`)).toBe('{}')
})

test('a member that is too large is left out, and so is what is too much together', async () => {
  const json = JSON.stringify({ ref: 'x', commits: large, after: 'y' })
  expect(await read(json)).toBe('{"ref":"x","after":"y"}')
  const wanted = Array.from({ length: 10 }, (_, n) => `m${n}`)
  const many = Object.fromEntries(wanted.map((name) => [name, 'x'.repeat(200_000)]))
  const kept = JSON.parse((await read(JSON.stringify(many), wanted))!)
  expect(Object.keys(kept)).toEqual(['m0', 'm1', 'm2'])
})

test('what is not UTF-8 is refused where it is read', async () => {
  const bytes = Buffer.from('{"ref":"?","other":"!"}')
  bytes[bytes.indexOf('!')] = 0xff
  expect(await read(bytes)).toBe('{"ref":"?"}')
  bytes[bytes.indexOf('?')] = 0xff
  expect(await read(bytes)).toBeNull()
})

describe('an object of millions of members', () => {
  test('is refused after the first of them', async () => {
    expect(await read(`{${'"":0,'.repeat(20_000)}"ref":"x"}`)).toBeNull()
    expect(await read(`{${'"":0,'.repeat(500)}"ref":"x"}`)).toBe('{"ref":"x"}')
  })

  test('in a member that is not read costs nothing', async () => {
    expect(await read(`{"other":{${'"":0,'.repeat(20_000)}"":0},"ref":"x"}`)).toBe('{"ref":"x"}')
  })
})
