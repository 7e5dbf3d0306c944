import { expect, test } from 'bun:test'
import { expand, roomForVariables } from '../../../src/deployments/dockerfile/expand.ts'
import type { Escape } from '../../../src/deployments/dockerfile/directives.ts'

const values = new Map([
  ['A', 'a'],
  ['EMPTY', ''],
  ['DOLLAR', '$A'],
])
const expanded = (word: string, escape: Escape = '\\') =>
  expand(word, { escape, lookup: (name) => values.get(name), room: roomForVariables() })

test.each([
  ['$A-${A}', 'a-a'],
  ['$NONE', ''],
  ['$DOLLAR', '$A'],
  ['${NONE:-b$A}', 'ba'],
  ['${NONE-b}${EMPTY-b}${EMPTY:-c}', 'bc'],
  ['${A:+b}${EMPTY:+c}${EMPTY+d}${NONE+e}', 'bd'],
  ['${NONE:-${NONE:-${A}}}', 'a'],
  ['${A:?no}', 'a'],
  ['"$A b"\'$A\'', 'a b$A'],
  ['\\$A\\x"\\$A\\x"', '$Ax$A\\x'],
  ['a$', 'a$'],
  ['$1', ''],
  ['${NONE:-"}"}', '}'],
])('%s is %s', (word, result) => {
  expect(expanded(word)).toBe(result)
})

test('the escape character is the one of the file', () => {
  expect(expanded('`$A\\', '`')).toBe('$A\\')
})

test.each(['${', '${A', '${}', '${:A}', '"a', "'a", '${NONE:?no}', '${A%b}', '${A=b}', '${A:-'])(
  '%s is not followed',
  (word) => {
    expect(expanded(word)).toBeNull()
  },
)

test('what grows beyond measure is refused', () => {
  expect(() => expanded('${A:-'.repeat(30) + '}'.repeat(30))).toThrow('nested')
  expect(() => expanded('x'.repeat(2_000_000))).toThrow('1 MiB')
})
