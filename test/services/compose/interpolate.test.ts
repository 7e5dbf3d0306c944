import { describe, expect, test } from 'bun:test'
import {
  interpolate,
  interpolateText,
  mentionsIn,
  roomForFile,
} from '../../../src/services/compose/interpolate.ts'
import { readYaml } from '../../../src/platform/yaml.ts'
import { refusalOf } from './refusal.ts'

const values = new Map([
  ['A', 'one'],
  ['EMPTY', ''],
  ['JSON', '{"commits":2}'],
  ['TRICK', '${A} $A $$ "; privileged: true'],
])
const lookup = (name: string) => values.get(name)
const made = (text: string) => interpolateText(text, lookup, roomForFile())

describe('a text gets its variables as Compose defines it', () => {
  test.each([
    ['$A', 'one'],
    ['${A}', 'one'],
    ['x$A-y${A}z', 'xone-yonez'],
    ['$NONE.${NONE}', '.'],
    ['$$A $${A} $$$A', '$A ${A} $one'],
    ['${NONE:-b}', 'b'],
    ['${EMPTY:-b}', 'b'],
    ['${EMPTY-b}', ''],
    ['${NONE-b}', 'b'],
    ['${A:-b}', 'one'],
    ['${A:+alt}', 'alt'],
    ['${EMPTY:+alt}', ''],
    ['${EMPTY+alt}', 'alt'],
    ['${NONE+alt}', ''],
    ['${A:?gone}', 'one'],
    ['${EMPTY?gone}', ''],
    ['${NONE:-${ALSO:-${A}}}', 'one'],
    ['${NONE:-a$$b}', 'a$b'],
    ['${NONE:-http://x:80/?q=-1}', 'http://x:80/?q=-1'],
    ['${NONE:-}', ''],
    ['no dollar', 'no dollar'],
    // braces in what stands behind the operator, as compose-go counts them
    ['is ${JSON:-{"commits":1}}', 'is {"commits":2}'],
    ['is ${JSON-{"commits":1}}', 'is {"commits":2}'],
    ['is ${NONE:-{"commits":1}}', 'is {"commits":1}'],
    ['${NONE-{"a":{"b":[{}]}}}/${A}', '{"a":{"b":[{}]}}/one'],
    ['${A:-{"a":{"b":[{}]}}}/${A}', 'one/one'],
    ['${NONE:-http://e/{v}/sub}', 'http://e/{v}/sub'],
    ['${A:-http://e/{v}/sub}', 'one'],
    ['${NONE:-{{.Name}}}', '{{.Name}}'],
    ['${A:-{{.Name}}}', 'one'],
    ['${NONE:-{${A}}}', '{one}'],
    ['${NONE:-{"a":"${ALSO:-{}}"}}', '{"a":"{}"}'],
    ['${A:+{"set":"$A"}}', '{"set":"one"}'],
    ['${NONE:+{"set":1}}.', '.'],
    ['${NONE:-$${A}}', '${A}'],
    ['${A}{b}', 'one{b}'],
    ['{${A}}', '{one}'],
    ['${A:-}}', 'one}'],
    // the first operator is the one
    ['${NONE-a?b}', 'a?b'],
    ['${NONE-a:-b}', 'a:-b'],
    ['${NONE:-/a:-b+c?d}', '/a:-b+c?d'],
    ['${A?b-c}', 'one'],
    ['${A+b-c:?d}', 'b-c:?d'],
    [':?x ${EMPTY:-b} +y', ':?x b +y'],
    ['${SUB:-redis}.${A:?}', 'redis.one'],
    ['$A-b ${A}-b', 'one-b one-b'],
    ['${NONE-$A ${A} ${EMPTY:+x}${A:+two}}', 'one one two'],
    ['${none}$_x', ''],
    // a dollar that begins no name
    ['a $ b', 'a $ b'],
    ['^[a-z]+$', '^[a-z]+$'],
    ['$}', '$}'],
    ['$1 cost $$5 or $5', '$1 cost $5 or $5'],
    ['$', '$'],
    ['$-A $.A', '$-A $.A'],
  ])('%s becomes %s', (text, expected) => {
    expect(made(text)).toBe(expected)
  })

  test('a value goes in byte by byte and is not read again', () => {
    expect(made('<$TRICK>')).toBe(`<${values.get('TRICK')}>`)
    expect(made('${NONE:-$TRICK}')).toBe(values.get('TRICK')!)
  })
})

describe('what names no variable is refused', () => {
  test.each([
    '${',
    '${}',
    '${ }',
    '${ A}',
    '${A }',
    '${A',
    '${1}',
    '${A:}',
    '${A!}',
    '${A.B}',
    '${A:-${B}',
    '${A:-{${B}',
    '${A:-{} ${B}',
    '${A:-{"a":1}',
    '${NONE:-{}',
  ])('%s', (text) => {
    expect(refusalOf(() => made(text))).toContain('$$')
  })

  test('a variable that must have a value, with the message of the file', () => {
    expect(refusalOf(() => made('${NONE:?give one}'))).toContain('NONE: give one')
    expect(refusalOf(() => made('${EMPTY:?}'))).toContain('needs a value for EMPTY.')
  })

  test('defaults nested without end, and values repeated without end', () => {
    const nested = '${X:-'.repeat(1000) + '}'.repeat(1000)
    expect(refusalOf(() => made(nested))).toContain('nests variables')
    const { tree, source } = readYaml(`a: "${'$B'.repeat(2000)}"`, { file: 'c.yaml' })
    const big = () => interpolate(tree, source, () => 'x'.repeat(32_768))
    expect(refusalOf(big)).toContain('4 MiB')
  })

  test('and costs no memory before that is seen', () => {
    let asked = 0
    const lookup = () => (asked++, 'x'.repeat(32_768))
    const many = '$B'.repeat(9_000)
    expect(refusalOf(() => interpolateText(many, lookup, roomForFile()))).toContain('4 MiB')
    expect(asked).toBeLessThan(200)
  })

  test('more mentions than anyone writes, at once', () => {
    expect(refusalOf(() => made('$B'.repeat(500_000)))).toContain('more than 10000 times')
    const lines = Array.from({ length: 30 }, (_, i) => `k${i}: "${'$B'.repeat(900)}"`)
    const { tree, source } = readYaml(lines.join('\n'), { file: 'c.yaml' })
    expect(refusalOf(() => mentionsIn(tree, source))).toContain('more than 20000')
  })

  test('a text that is aliased again and again', () => {
    const aliases = Array.from({ length: 5000 }, () => '*a').join(', ')
    const text = `a: &a ${'x'.repeat(10_000)}\nb: [${aliases}]`
    const { tree, source } = readYaml(text, { file: 'c.yaml' })
    expect(refusalOf(() => interpolate(tree, source, lookup))).toContain('4 MiB')
  })
})

describe('a tree', () => {
  const text = `
a: {$A: "\${A}", n: 5}
l: ["\${A}", "\${B:?}", "\${C:-\${D}}"]
`
  const { tree, source } = readYaml(text, { file: 'c.yaml' })

  test('has variables in its texts, not in its keys', () => {
    const done = interpolate(tree, source, (name) => (name === 'B' ? '*b' : lookup(name)))
    expect(done).toEqual(
      new Map<string, unknown>([
        [
          'a',
          new Map<string, unknown>([
            ['$A', 'one'],
            ['n', 5],
          ]),
        ],
        ['l', ['one', '*b', '']],
      ]) as never,
    )
  })

  test('names file, line and key of what is missing', () => {
    expect(refusalOf(() => interpolate(tree, source, lookup))).toMatch(
      /^c\.yaml, line 3, column 13: l\[1\] needs a value for B/,
    )
  })

  test('tells every variable it mentions, those in defaults too', () => {
    const found = mentionsIn(tree, source).map(({ name, required }) => [name, required])
    expect(found).toEqual([
      ['A', false],
      ['A', false],
      ['B', true],
      ['C', false],
      ['D', false],
    ])
  })

  test('D5: what looks like YAML, a template or an anchor in a value stays one text', () => {
    const hostile = [
      '"; privileged: true',
      '\nprivileged: true',
      '${OTHER}',
      '{{x}}',
      '*anchor',
      '$$',
    ]
    for (const value of hostile) {
      const { tree, source } = readYaml('a: {b: "${V}"}', { file: 'c.yaml' })
      expect(interpolate(tree, source, () => value)).toEqual(
        new Map([['a', new Map([['b', value]])]]) as never,
      )
    }
  })
})
