import { describe, expect, test } from 'bun:test'
import { costOf } from '../support/cost.ts'
import { readYaml } from '../../src/platform/yaml.ts'
import { refusalOf } from '../services/compose/refusal.ts'

const read = (text: string) => readYaml(text, { file: 'compose.yaml', field: 'compose' })
const treeOf = (text: string) => Bun.inspect(read(text).tree)

describe('what is read', () => {
  test('is YAML 1.2: yes is text, an octal-looking number is a number, a long one stays exact', () => {
    const { tree } = read('a: [yes, 1.5, 12345678901234567890, "0", ~, true]')
    expect((tree as Map<string, unknown>).get('a')).toEqual([
      'yes',
      1.5,
      '12345678901234567890',
      '0',
      null,
      true,
    ])
  })

  test('keeps how a scalar is written wherever that is more than its value', () => {
    const written = [
      '1.10',
      '0002',
      '0o400',
      '0x1F',
      '1e3',
      '.5',
      '+3',
      '-0',
      '.inf',
      'True',
      'yes',
    ]
    const { tree } = read(`a: [${written.join(', ')}, !!int 007, 1, false, NULL]`)
    const expected = [...written, '007', 1, false, null]
    expect((tree as Map<string, unknown>).get('a')).toEqual(expected)
  })

  test('has its aliases and merge keys resolved, own keys before merged ones', () => {
    const text = `
x-a: &a {image: one, user: a}
x-b: &b {user: b, init: true}
services:
  web:
    user: own
    <<: [*a, *b]
`
    const services = (read(text).tree as Map<string, Map<string, unknown>>).get('services')!
    expect(services.get('web')).toEqual(
      new Map<string, unknown>([
        ['user', 'own'],
        ['image', 'one'],
        ['init', true],
      ]),
    )
  })

  test('keeps keys that JavaScript objects have of their own', () => {
    const { tree } = read('__proto__: 1\nconstructor: 2\n')
    expect(tree).toEqual(
      new Map([
        ['__proto__', 1],
        ['constructor', 2],
      ]),
    )
  })

  test('knows where each key stands, also one that came by a merge', () => {
    const { source } = read(
      'x: &x\n  image: a\nservices:\n  web:\n    <<: *x\n    ports:\n      - 80\n',
    )
    expect(source.positionOf(['services', 'web', 'ports', 0])).toEqual({ line: 7, column: 9 })
    expect(source.positionOf(['services', 'web', 'image'])).toEqual({ line: 2, column: 3 })
    expect(source.positionOf(['services', 'web', 'absent'])).toEqual({ line: 4, column: 3 })
  })
})

describe('what is refused, with file, line, column and a way on', () => {
  test.each([
    ['a tab', 'a:\n\tb: c\n', /^compose\.yaml, line 2, column 1: .*tab.*spaces/],
    ['a tab before a list', 'a:\n  b:\n  \t- c\n', /line 3, column 3: .*tab/],
    [
      'a key that stands twice',
      'a: 1\nb:\n  c: 1\n  c: 2\n',
      /line 4, column 3: The key c is repeated/,
    ],
    ['a key twice, once in quotes', 'a: 1\n"a": 2\n', /line 2, column 1: The key a/],
    ['a tag that makes a function', 'a: !!js/function "x"\n', /line 1, column \d+: The tag .*js/],
    ['a tag of its own', 'a: !mine x\n', /The tag !mine/],
    ['types of YAML 1.1', '%YAML 1.1\n---\na: !!set {x}\n', /line 3, .*The tag .*set/],
    ['an anchor that contains itself', 'a: &a [1, *a]\n', /line 1, column 11: \*a contains itself/],
    ['an alias without its anchor', 'a: *b\n', /\*b has no anchor &b/],
    ['a merge of what is no map', 'a: &a 1\nb:\n  <<: *a\n', /line 3, .*<< must be a map/],
    ['two documents', 'a: 1\n---\nb: 2\n', /line 2, .*second document/],
    ['a quote that stays open', 'a: "b\n', /isn’t valid YAML.*quote/],
    ['a key that is a list', '? [a]\n: b\n', /A key must be plain text/],
    ['a NUL character', 'a: "b\\0c"\n', /NUL/],
    ['nothing', '', /is empty/],
    ['comments only', '# nothing\n', /is empty/],
  ])('%s', (_, text, message) => {
    expect(refusalOf(() => read(text))).toMatch(message)
  })

  test('the refusal names the field of the form', () => {
    try {
      read('a: 1\na: 2\n')
      throw new Error('It was not refused.')
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid', fields: [{ field: 'compose' }] })
    }
  })
})

describe('text made to cost is refused before it costs much', () => {
  const nine = (of: string) => `[${Array(9).fill(of).join(',')}]`
  const bomb = ['a0: &a0 x']
  for (let i = 1; i < 30; i++) bomb.push(`a${i}: &a${i} ${nine(`*a${i - 1}`)}`)
  const mergeBomb = ['a0: &a0 {k: v}']
  for (let i = 1; i < 30; i++)
    mergeBomb.push(`a${i}: &a${i}\n  x: *a${i - 1}\n  y: *a${i - 1}\n  <<: *a${i - 1}`)

  const services = Array.from(
    { length: 300 },
    (_, i) => `  s${i}:\n    image: a:1\n    environment:\n      A: "1"\n      B: two words\n`,
  )
  const long = `services:\n${services.join('')}`

  const texts: [string, string][] = [
    ['a bomb of aliases', bomb.join('\n')],
    ['a bomb of merges', mergeBomb.join('\n')],
    ['aliases without end', `a: &a ${'x'.repeat(1000)}\nb: [${'*a,'.repeat(300_000)}]`],
    ['anchors without end', `a: [${'&a x,'.repeat(200_000)}]`],
    ['10 MB', 'a: b\n'.repeat(2_000_000)],
    ['10 MB in one word', 'a'.repeat(10 * 1024 * 1024)],
    ['brackets without end', '['.repeat(1_000_000)],
    ['dashes without end', '- '.repeat(500_000)],
    ['question marks without end', '? '.repeat(500_000)],
    ['100,000 keys', Array.from({ length: 100_000 }, (_, i) => `k${i}:`).join('\n')],
    ['documents without end', '---\n'.repeat(250_000)],
    ['depth below the limit of signs', '{a: '.repeat(9_000)],
  ]

  test.each(texts)('%s', (_, text) => {
    const most = 10 * costOf(() => treeOf(long))
    expect(costOf(() => refusalOf(() => read(text)))).toBeLessThan(most)
  })

  test('while a file as long as real ones get is read', () => {
    expect(treeOf(long)).toContain('s299')
  })
})
