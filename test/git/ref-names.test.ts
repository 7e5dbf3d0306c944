import { expect, test } from 'bun:test'
import { isCommit, refuseBranch } from '../../src/git/ref-names.ts'

const names = [
  ...[
    'main',
    'feature/login',
    '$(id)',
    'a;b',
    'a`id`',
    '<script>',
    'a&b',
    "it's",
    'ä/ö',
    'v1.0',
    '@a',
  ],
  ...['--upload-pack=x', '-h', '--orphan=z', 'a..b', 'a b', 'a\tb', 'a~1', 'a^', 'a:b', 'a?', 'a*'],
  ...['a[b', 'a\\b', '/a', 'a/', 'a//b', '.a', 'a/.b', 'a.', 'a.lock', 'a.lock/b', 'a@{b', '@', ''],
  ...['HEAD', 'a\x7fb', 'a\nb'],
]

test.each(names)('%p is refused exactly when git refuses it', (name) => {
  const git = Bun.spawnSync(['git', 'check-ref-format', '--branch', name])
  expect(refuseBranch(name) === null).toBe(git.exitCode === 0)
})

test('a commit is a whole hash', () => {
  expect(isCommit('a'.repeat(40))).toBe(true)
  expect(isCommit('A0'.repeat(32))).toBe(true)
  for (const text of ["HEAD'; id; #", '--all', 'abc', 'a'.repeat(41), `${'a'.repeat(40)}\n`, '']) {
    expect(isCommit(text)).toBe(false)
  }
})
