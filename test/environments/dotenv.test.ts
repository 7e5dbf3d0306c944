import { expect, test } from 'bun:test'
import { parseDotenv } from '../../src/environments/dotenv.ts'

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
