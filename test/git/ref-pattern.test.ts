import { describe, expect, test } from 'bun:test'
import { matchingRefs, refMatcher, refuseRefPattern } from '../../src/git/ref-pattern.ts'

describe('a pattern matches whole names', () => {
  test.each<[pattern: string, matched: string[], others: string[]]>([
    ['main', ['main'], ['main2', 'xmain', 'Main']],
    ['release/*', ['release/1', 'release/1.2-rc'], ['release', 'release/1/2', 'prerelease/1']],
    ['release/**', ['release/1', 'release/1/2'], ['release', 'releases/1']],
    ['**/hotfix', ['hotfix', 'a/hotfix', 'a/b/hotfix'], ['a/hotfix/b', 'xhotfix']],
    ['*', ['main', 'v1'], ['a/b']],
    ['**', ['main', 'a/b'], []],
    ['v*', ['v', 'v1', 'v1.2.3-rc.1'], ['1', 'xv1', 'v1/2']],
    ['v[0-9]*', ['v1', 'v10.2'], ['v', 'vx', 'version']],
    ['v[0-9]*.[0-9]*.[0-9]*', ['v1.2.3', 'v1.2.3-rc1'], ['v1.2', 'v1']],
    ['v[!0-9]', ['vx'], ['v1', 'v']],
    ['v[^0-9]', ['vx'], ['v1']],
    ['v?', ['v1', 'vé', 'v😀'], ['v', 'v12', 'v/']],
    ['v1.0+[a-c]', ['v1.0+b'], ['v1x0+b', 'v1.00b']],
    ['a(b)*$', ['a(b)c$'], ['abc$', 'a(b)c']],
  ])('%s', (pattern, matched, others) => {
    expect(refuseRefPattern(pattern)).toBeNull()
    const match = refMatcher(pattern)
    expect([...matched, ...others].filter(match)).toEqual(matched)
  })
})

test.each([
  ...['', '-x*', '--upload-pack=*', 'a..*', 'a b*', 'a\n*', 'a\0*', 'a~*', 'a:*', '*.lock'],
  ...['/*', '*/', 'a//*', '.*', 'a/.*', 'v[0-9', 'v[]', 'v[9-0]', 'v\\*', 'v*\\', '***', 'a**'],
  ...['**a', 'release/**.1', '*'.repeat(11), 'a*'.repeat(11), '?'.repeat(101), '@{*', 'HEAD'],
])('%j is refused', (pattern) => {
  expect(refuseRefPattern(pattern)).toBeString()
})

describe('of a listing', () => {
  const listing = (...refs: string[]) => refs.map((ref) => `${'a'.repeat(40)}\t${ref}\n`).join('')
  const names = (text: string, patterns: { branch: string | null; tag: string | null }) =>
    matchingRefs(text, patterns).items.map(({ type, name }) => `${type} ${name}`)

  test('branches and tags are each matched by their own pattern, the highest number first', () => {
    const text = listing(
      ...['refs/heads/v1', 'refs/heads/release/9', 'refs/heads/release/10', 'refs/heads/main'],
      ...['refs/tags/v9', 'refs/tags/v10', 'refs/tags/release/1', 'refs/pull/1/head'],
    )
    expect(names(text, { branch: 'release/*', tag: 'v*' })).toEqual([
      ...['branch release/10', 'branch release/9', 'tag v10', 'tag v9'],
    ])
    expect(names(text, { branch: null, tag: 'v1*' })).toEqual(['tag v10'])
    expect(names(text, { branch: 'main', tag: null })).toEqual(['branch main'])
  })

  test('names are only text', () => {
    const odd = ['v"><script>', "v'; rm -rf /", 'v$(id)', 'v|x', '-v1', 'v\u202e']
    expect(
      names(listing(...odd.map((name) => `refs/tags/${name}`)), { branch: null, tag: '*' }),
    ).toBeArrayOfSize(4) // without the names that git refuses, and one that is an option
  })

  test('10,000 refs are matched in time, and cut off', () => {
    const text = listing(
      ...Array.from({ length: 10_000 }, (_, i) => `refs/tags/v${i}${'a'.repeat(80)}`),
    )
    const from = performance.now()
    const found = matchingRefs(text, { branch: null, tag: `v${'*[a-z0-9]'.repeat(10)}` })
    expect([found.items.length, found.truncated]).toEqual([500, true])
    expect(found.items[0]!.name).toStartWith('v9999')
    expect(performance.now() - from).toBeLessThan(4000)
  })
})
