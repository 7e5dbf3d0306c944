import { describe, expect, test } from 'bun:test'
import { AppError } from '../../src/platform/errors.ts'
import { parseRepositoryUrl } from '../../src/git/repository-url.ts'

const parse = (text: string, options = { allowLocal: false, allow: [] as string[] }) =>
  parseRepositoryUrl(text, options)

describe('an address is normalised', () => {
  test.each([
    ['https://GitHub.com/owner/repo', 'https://github.com/owner/repo', 443],
    ['https://example.com./a/../o/r.git', 'https://example.com/o/r.git', 443],
    ['http://example.com:8080/o/r.git#x', 'http://example.com:8080/o/r.git', 8080],
    ['git@example.com:owner/repo.git', 'ssh://git@example.com/owner/repo.git', 22],
    ['ssh://git@example.com:2222/~o/r.git', 'ssh://git@example.com:2222/~o/r.git', 2222],
    ['https://example.com/$(id)/a;b`c`', 'https://example.com/$(id)/a;b%60c%60', 443],
    ['ssh://git@134744072/r', 'ssh://git@8.8.8.8/r', 22],
    ['github.com/owner/repo', 'https://github.com/owner/repo', 443],
    ['git.example.com:8443/o/r.git', 'https://git.example.com:8443/o/r.git', 8443],
  ])('%s', (text, href, port) => expect(parse(text)).toMatchObject({ href, port }))
})

describe('an address is refused', () => {
  test.each([
    ['', 'Enter the address'],
    ['--upload-pack=touch /tmp/m;', 'begin with “-”'],
    ['-oProxyCommand=touch', 'begin with “-”'],
    ['https://example.com/a b', 'spaces'],
    ['https://example.com/a\nb', 'control characters'],
    ['https://example.com/a\0b', 'control characters'],
    ['https://example.com/a\u2028b', 'spaces'],
    ['http://ex.invalid\\@127.0.0.1:18095/x', 'backslash'],
    ['ext::sh%20-c', 'helper program'],
    ['fd::17', 'helper program'],
    ['ftp://example.com/r', 'https://host'],
    ['javascript:alert(1)', 'https://host'],
    ['git://example.com/r', 'https://host'],
    ['owner/repo', 'https://host'],
    ['10.0.0.1/owner/repo', 'https://host'],
    ['localhost/owner/repo', 'https://host'],
    ['token@example.com/owner/repo', 'https://host'],
    ['example.com', 'https://host'],
    ['metadata.internal..x/r', 'https://host'],
    ['file:///etc', 'DAVIT_ALLOW_LOCAL_REPOS'],
    ['FILE:///etc', 'DAVIT_ALLOW_LOCAL_REPOS'],
    ['/var/lib/davit', 'DAVIT_ALLOW_LOCAL_REPOS'],
    ['./x', 'DAVIT_ALLOW_LOCAL_REPOS'],
    ['../x', 'DAVIT_ALLOW_LOCAL_REPOS'],
    ['https://user:token@example.com/o/r', 'git source'],
    ['https://token@example.com/o/r', 'git source'],
    ['ssh://git:pass@example.com/o/r', 'git source'],
    ['ssh://-oProxyCommand=touch%20m/x', 'begin with “-”'],
    ['ssh://-l@example.com/x', 'begin with “-”'],
    ['ssh://%2dl@example.com/x', 'begin with “-”'],
    ['git@-oX:y', 'begin with “-”'],
    ['ssh://a;b/x', 'a valid host name'],
    ['ssh://u;x@example.com/x', 'a valid user name'],
    ['https://example.com', 'no repository'],
    ['https://example.com//', 'no repository'],
    ['http://127.1/o/r', 'DAVIT_ALLOW_HOSTS'],
    ['ssh://git@2130706433/o/r', 'DAVIT_ALLOW_HOSTS'],
    ['git@localhost:o/r', 'DAVIT_ALLOW_HOSTS'],
    ['https://[::1]/o/r', 'DAVIT_ALLOW_HOSTS'],
    [`https://example.com/${'a'.repeat(2000)}`, '2,000'],
  ])('%p: %s', (text, words) => {
    const refuse = () => parse(text)
    expect(refuse).toThrow(AppError)
    expect(refuse).toThrow(words)
  })
})

test('a host of the list is admitted', () => {
  const allowed = { allowLocal: false, allow: ['127.0.0.1', 'localhost'] }
  expect(parse('http://127.0.0.1:99/r', allowed).href).toBe('http://127.0.0.1:99/r')
  expect(parse('git@localhost:r', allowed).host).toBe('localhost')
})

describe('a local repository, where the operator admits them', () => {
  const local = { allowLocal: true, allow: [] }

  test('is a file URL or a whole path', () => {
    expect(parse('file:///srv/a.git', local).href).toBe('file:///srv/a.git')
    expect(parse('/srv/a.git', local)).toMatchObject({ protocol: 'file', path: '/srv/a.git' })
  })

  test.each(['./a', '../a', '~/a', 'file:a', 'file://host/a', '/'])('is not %s', (text) => {
    expect(() => parse(text, local)).toThrow('full path')
  })
})
