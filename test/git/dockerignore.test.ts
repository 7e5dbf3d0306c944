import { expect, test } from 'bun:test'
import { ignoredPaths, parseDockerignore } from '../../src/git/dockerignore.ts'

const cases: [rules: string, ignored: string[], kept: string[]][] = [
  ['', [], ['a', '.git/x']],
  ['# a comment\n#b\nc', ['c'], ['# a comment', '#b', 'b']],
  [
    'node_modules',
    ['node_modules/a/b.js', 'node_modules'],
    ['app/node_modules/a', 'node_modules2'],
  ],
  ['dist/', ['dist/a', 'dist'], ['a/dist']],
  ['/dist', ['dist/a'], ['a/dist']],
  ['./dist//x', ['dist/x'], ['dist/y']],
  ['a/../b', ['b'], ['a']],
  ['*/temp*', ['a/temporary.txt', 'a/temp/x'], ['temp', 'a/b/temp']],
  ['*/*/temp*', ['a/b/temporary'], ['a/temp']],
  ['temp?', ['tempa', 'tempb/x'], ['temp', 'tempab', 'temp/']],
  ['*.md', ['README.md'], ['docs/README.md', 'README.mdx']],
  ['**/*.go', ['a.go', 'a/b/c.go'], ['a.goo', 'a/go']],
  [
    '**/node_modules',
    ['node_modules/x', 'a/node_modules/x', 'a/b/node_modules'],
    ['a/xnode_modules'],
  ],
  ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z/y'], ['az', 'b/a/z']],
  ['a/**', ['a/b', 'a/b/c'], ['ab']],
  ['**', ['a', 'a/b'], []],
  ['*.md\n!README.md', ['a.md'], ['README.md']],
  ['*.md\n!README*.md\nREADME-secret.md', ['README-secret.md', 'a.md'], ['README-a.md']],
  ['*.md\nREADME-secret.md\n!README*.md', ['a.md'], ['README-secret.md']],
  ['*\n!src\n! dist/app.js', ['a', 'dist/other.js'], ['src/a/b', 'dist/app.js']],
  ['*\n!**/keep.txt', ['a/other'], ['a/b/keep.txt', 'keep.txt']],
  ['docs\n!docs/keep', ['docs/a'], ['docs/keep/x', 'docs/keep']],
  ['\uFEFFfirst\r\nsecond  \r\n  third', ['first', 'second', 'third'], []],
  ['[a-c]x', ['ax', 'cx/y'], ['dx']],
  ['[^a]x', ['bx'], ['ax', '/x']],
  ['[\\]\\-]x', [']x', '-x'], ['\\x']],
  ['a**b', ['ab', 'a/b/y'], ['b', 'xa/b', 'axb']],
  ['**b', ['b', 'ab', 'a/ab/c'], ['ba']],
  ['**b*', ['bc', 'a/bc'], ['abc']],
  ['a**', ['a', 'ab', 'a/b', 'ab/c'], ['b']],
  ['***/b', ['x/b', 'x/y/b'], ['b', 'xb']],
  ['?**/*b', ['ab', 'a/b', 'ax/yb'], ['b']],
  ['**/**/b', ['b', 'a/b', 'a/a/b'], ['ab']],
  ['a\\*b', ['a*b'], ['axb']],
  ['C++(x)|{y}$^', ['C++(x)|{y}$^'], ['C']],
  ['constructor', ['constructor'], ['toString', '__proto__']],
  ['Makefile', ['Makefile'], ['makefile']],
  ['größe/*', ['größe/a'], ['grosse/a']],
  ['/', [], ['a']],
  ['.', [], ['a']],
  ['!.', [], ['a']],
  ['**/*.log\n!logs', ['a.log', 'logs/a.log', 'logs/b/a.log'], ['logs/a.txt']],
  ['logs\n**/*.log\n!logs', [], ['logs/a.log', 'logs/a.txt']],
  ['**/*.log\n!logs/**', ['a.log'], ['logs/a.log']],
  ['*\n!a/b', ['a/c', 'b'], ['a/b', 'a/b/c']],
  ['a/b\n!a/b/c\na', ['a/b/c', 'a/x'], []],
  ['a\n!a/b\na/b/c', ['a/c', 'a/b/c/d'], ['a/b/d']],
]

test.each(cases)('%p', (rules, ignored, kept) => {
  const ignores = parseDockerignore(rules)
  expect(ignored.filter((path) => !ignores(path))).toEqual([])
  expect(kept.filter(ignores)).toEqual([])
})

const errors = [
  '[a',
  '[]',
  '[^]',
  '[]a]',
  '[a-]',
  '[-a]',
  '[z-a]',
  'a\\',
  '!',
  '! ',
  '!/',
  'x/[',
  '\\\\\\',
]

test.each(errors)('%p is refused with its line, as Docker refuses it', (pattern) => {
  const read = () => parseDockerignore(`# x\n${pattern}\nb`, { file: 'app/.dockerignore' })
  expect(read).toThrow(`Line 2 of app/.dockerignore isn’t a valid pattern: “${pattern.trim()}”.`)
})

test('13,000 patterns are one automaton for 100,000 files', () => {
  const paths = Array.from({ length: 100_000 }, (_, i) => `${'ab/'.repeat(10)}${i}\0`).join('')
  const ignored = ignoredPaths('*a*b\n'.repeat(13_000), paths, { file: '.dockerignore' })
  expect(ignored.every((one) => one === 1)).toBe(true)
})

test('a pattern made to take forever does not', () => {
  const ignores = parseDockerignore(`${'**/*a*'.repeat(25)}b\n${'*a'.repeat(200)}b`)
  expect(ignores('a/'.repeat(200) + 'a'.repeat(200))).toBe(false)
})
