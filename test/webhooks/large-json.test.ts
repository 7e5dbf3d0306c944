import { describe, expect, test } from 'bun:test'
import { withoutLargeMembers } from '../../src/webhooks/large-json.ts'
import { readPayload } from '../../src/webhooks/payload.ts'

const slim = (json: string) => withoutLargeMembers(Buffer.from(json))
const large = 'x'.repeat(300_000)

test('what is small stays as it was written, what is large is left out', () => {
  const small = {
    ref: 'refs/heads/main',
    number: 1.5,
    none: null,
    list: [1, { a: '}]' }],
    text: 'quotes " and \\ and \\" and ü\u2028',
    '': {},
  }
  const json = JSON.stringify({ one: large, ...small, two: [[large]], three: { four: large } })
  expect(JSON.parse(slim(json)!)).toEqual(small)
  const spaced = JSON.stringify({ one: large, ...small, two: large }, null, '\t')
  expect(JSON.parse(slim(` ${spaced}\n`)!)).toEqual(small)
})

test.each([
  '',
  '  ',
  '[1,2]',
  '"x"',
  '{"a":1',
  '{"a":"1}',
  '{"a":1}}',
  '{"a":1} x',
  'x {"a":1}',
  '{"a":[1}',
  '['.repeat(100_000),
])('%p is no object', (json) => expect(slim(json)).toBeNull())

describe('a body over 1 MiB', () => {
  const read = (json: string) => readPayload(Buffer.from(json), 'application/json')

  test('says what a small one says, but for what is large in it', () => {
    const json = JSON.stringify({ ref: 'x', commits: Array(10).fill(large), after: 'y' })
    expect(read(json)).toEqual({ ref: 'x', after: 'y' })
  })

  test('of very many small members is read as far as there is room', () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`m${n}`, 'x'.repeat(2e5)]),
    )
    expect(Object.keys(read(JSON.stringify(many)))).toHaveLength(5)
  })

  test('of millions of members costs no memory for each', () => {
    const before = process.memoryUsage.rss()
    const json = Buffer.from(`{${'"":0,'.repeat(4_000_000)}"ref":"x"}`)
    expect(readPayload(json, 'application/json')).toEqual({ '': 0 })
    expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000)
  })

  test.each([
    `${JSON.stringify({ a: large.repeat(5) })}}`,
    `{"a":tru,"b":"${large.repeat(5)}"}`,
    `"${large.repeat(5)}"`,
    `[${`"${large}",`.repeat(5)}1]`,
  ])('that is no JSON object is refused (%#)', (json) =>
    expect(() => read(json)).toThrow('The body is not'),
  )

  test('that is not UTF-8 is refused, wherever it is not', () => {
    const bytes = Buffer.from(JSON.stringify({ ref: 'x', padding: large.repeat(5) }))
    bytes[700_000] = 0xff
    expect(() => readPayload(bytes, 'application/json')).toThrow('The body is not UTF-8.')
  })
})
