import { describe, expect, test } from 'bun:test'
import { parseDotenv } from '../../src/environments/dotenv.ts'
import { readEnvFile } from '../../src/services/compose/env-file.ts'
import { refusalOf } from '../services/compose/refusal.ts'

const parsed = (text: string) => Object.fromEntries(parseDotenv(text))

test('a plain value ends at a comment, and loses the blanks around it', () => {
  expect(parsed('A=1\r\n  B =  two words   # said so\nC=a#b\nexport D=x\n\n# E=5\nF=')).toEqual({
    A: '1',
    B: 'two words',
    C: 'a#b',
    D: 'x',
    F: '',
  })
})

test('a comment may be all that stands behind the sign, and a sharp within a value is no comment', () => {
  expect(parsed('A= # said so\nB=\t# so\nC =  #\nD=#fff\nE= #fff\nF="#" # so\nG=a #')).toEqual({
    A: '',
    B: '',
    C: '',
    D: '#fff',
    E: '',
    F: '#',
    G: 'a',
  })
})

test('the file of an app keeps references and escapes as they are', () => {
  const text = 'A=pg://${USER}@db:$PORT\nB="${A}\\n$$"\nC=a\\tb\nD=\'it\\n\''
  expect(parsed(text)).toEqual({
    A: 'pg://${USER}@db:$PORT',
    B: '${A}\n$$',
    C: 'a\\tb',
    D: 'it\\n',
  })
})

test('single quotes keep everything, double quotes read their escapes, both span lines', () => {
  expect(parsed("A='$x \\n # no'")).toEqual({ A: '$x \\n # no' })
  expect(parsed('A="tab\\there \\"quoted\\" \\\\ \\$x \\q" # said')).toEqual({
    A: 'tab\there "quoted" \\ $x \\q',
  })
  expect(parsed('A="one\n  two \nthree"\nB=\'x\n\ny\'')).toEqual({
    A: 'one\n  two \nthree',
    B: 'x\n\ny',
  })
  expect(parsed('A=`it\'s "fine"`')).toEqual({ A: 'it\'s "fine"' })
})

test('the last of two lines for one key counts, and no key is special', () => {
  expect([...parseDotenv('A=1\nA=2\n__proto__=x')]).toEqual([
    ['A', '2'],
    ['__proto__', 'x'],
  ])
})

test('a file made to be slow is read at once', () => {
  const blanks = ' '.repeat(200_000)
  const startedAt = performance.now()
  for (const text of [
    `A=x${'\n'.repeat(200_000)}`,
    `A=${blanks}#`,
    `A=x${blanks.slice(0, 90_000)}y`,
    `A="${'\n'.repeat(90_000)}"`,
    `export${blanks}A=1`,
    `A='${'"\n'.repeat(45_000)}'`,
  ])
    parseDotenv(text)
  expect(() => parseDotenv(`A="${'\\\n'.repeat(200_000)}`)).toThrow('never closed')
  expect(performance.now() - startedAt).toBeLessThan(5000)
})

describe('the rules of Compose', () => {
  const given = new Map([
    ['GIVEN', 'from the instance'],
    ['EMPTY', ''],
    ['DOLLARS', '$A ${A} $$'],
  ])
  const lookup = (name: string) => given.get(name)
  const read = (text: string) => Object.fromEntries(readEnvFile(text, { lookup }))

  test.each([
    // references
    ['USER_=ann\nURL=pg://${USER_}@db', { USER_: 'ann', URL: 'pg://ann@db' }],
    ['A=1\nB=$A\nC="${A}_$B"\nD=\'$A\'', { A: '1', B: '1', C: '1_1', D: '$A' }],
    ['B=$A-\nA=1', { B: '-', A: '1' }],
    ['A=${NONE:-x}${EMPTY:-y}${EMPTY-z}${GIVEN:+w}', { A: 'xyw' }],
    ['A=${NONE:-{"a":1}}', { A: '{"a":1}' }],
    ['GIVEN=mine\nA=$GIVEN', { GIVEN: 'mine', A: 'from the instance' }],
    ['A=$DOLLARS\nB="$DOLLARS"', { A: '$A ${A} $$', B: '$A ${A} $$' }],
    ['A=$$B\nB="$$B \\$B \\${B}"', { A: '$B', B: '$B $B ${B}' }],
    ['A=^x$\nB=$5\nC=a $ b', { A: '^x$', B: '$5', C: 'a $ b' }],
    // quotes and escapes
    ['A=a\\tb\nB="a\\tb"\nC=\'a\\tb\'', { A: 'a\\tb', B: 'a\tb', C: 'a\\tb' }],
    ['A="\\a\\b\\f\\n\\r\\v\\\\ \\0123 \\x07 \\q"', { A: '\x07\b\f\n\r\v\\ S \\x07 \\q' }],
    ['A="say \\"hi\\""\nB=\'Let\\\'s go\'', { A: 'say "hi"', B: "Let's go" }],
    ['A="\'d\'"\nB=\'"d"\'\nC=`d`', { A: "'d'", B: '"d"', C: '`d`' }],
    ['A="one\n two"\nB=\'x\ny\'', { A: 'one\n two', B: 'x\ny' }],
    ['A=""\nB=\'\'\nC=\nD = ', { A: '', B: '', C: '', D: '' }],
    // comments
    [
      'A=b #c\nB=b#c\nC="b#c" # d\nD=\'b\'#d\nE= # c',
      { A: 'b', B: 'b#c', C: 'b#c', D: 'b', E: '' },
    ],
    // names
    [
      'export A=1\nexport\tB=2\nexportC=3\nexport.D=4',
      { A: '1', B: '2', exportC: '3', 'export.D': '4' },
    ],
    ['A: 1\nB: x=y\nC=1:b\nD:"q"', { A: '1', B: 'x=y', C: '1:b', D: 'q' }],
    ['A.B=1\nA-B=2\n  A_B =3', { 'A.B': '1', 'A-B': '2', A_B: '3' }],
    ['GIVEN\nNONE\nexport EMPTY\nA=1', { GIVEN: 'from the instance', EMPTY: '', A: '1' }],
    ['\uFEFFA=1\r\n\r\n# c\r\nB=2\r', { A: '1', B: '2' }],
    ['A=b=c==', { A: 'b=c==' }],
    ['A=b\t#c\nB=b\u00a0#c', { A: 'b\t#c', B: 'b\u00a0#c' }],
    ['# nothing', {}],
  ])('%j', (text, expected) => {
    expect(read(text)).toEqual(expected as Record<string, string>)
  })

  test.each([
    ['A=1\nB="open', 'Line 2 of .env opens a "'],
    ["A='open\\'", "Line 1 of .env opens a '"],
    ['A=1\nlol$wut', 'Line 2 of .env isn’t KEY=value'],
    ['A B=1', 'Line 1 of .env isn’t'],
    ['=1', 'Line 1 of .env isn’t'],
    ['1A=1', 'starts with a letter or _'],
    ['A="x" B=2', 'Line 1 of .env continues after its closing quote'],
    ['A=${', 'Line 1 of .env has "${"'],
    ['A=1\nB=${A', 'Line 2 of .env has'],
    ['A=${NONE:?give one}', 'Line 1 of .env needs a value for NONE: give one'],
  ])('%j is refused by its line', (text, message) => {
    expect(refusalOf(() => read(text))).toContain(message)
  })

  test('a raw file is taken line by line as it stands', () => {
    const text = '# c\nA="q" # c\nB=$GIVEN ${X} \\n\n  C= two \nGIVEN\nNONE\nD=a=b\r\n'
    expect(Object.fromEntries(readEnvFile(text, { lookup, format: 'raw' }))).toEqual({
      A: '"q" # c',
      B: '$GIVEN ${X} \\n',
      C: ' two ',
      GIVEN: 'from the instance',
      D: 'a=b',
    })
    expect(refusalOf(() => readEnvFile('A =1', { lookup, format: 'raw' }))).toContain('Line 1')
  })

  test('references repeated without end are refused', () => {
    const lines = Array.from({ length: 40 }, (_, n) => `K${n + 1}=$K${n}$K${n}`)
    expect(refusalOf(() => read(`K0=xx\n${lines.join('\n')}`))).toMatch(/too long|4 MiB/)
  })
})
