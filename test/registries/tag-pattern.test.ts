import { describe, expect, test } from 'bun:test'
import { newestTag, parseImage, withTag } from '../../src/registries/tag-pattern.ts'

describe('the newest tag that a pattern matches', () => {
  const tags =
    'latest 1 1.2 1.2.3 1.2.10 1.10 1.10.0 1.10.1-rc.2 1.10.1-rc.10 1.10.1-rc.9 2.0.0 2.0.0-beta.1 10.0 v3.0.1 v3.1 1.9-alpine 1.10-alpine 1.10.0-alpine3.9 1.10.0-alpine3.19 20241012 1.2.x 1.2.3.4.5'.split(
      ' ',
    )
  for (const [pattern, newest] of [
    ['1.*', '1.10.0'],
    ['1.2.*', '1.2.10'],
    ['2.*', '2.0.0'],
    ['1.10.*', '1.10.0'],
    ['1.*-rc.*', '1.10.1-rc.10'],
    ['1.10.1.*', null],
    ['2.*-beta.*', '2.0.0-beta.1'],
    ['1.*-alpine', '1.10-alpine'],
    ['1.*-alpine*', '1.10.0-alpine3.19'],
    ['1.*-*', '1.10.1-rc.10'],
    ['v3.*', 'v3.1'],
    ['v*', 'v3.1'],
    ['3.*', null],
    ['*', '20241012'],
  ] as const)
    test(`${pattern} is ${newest}`, () => {
      expect(newestTag(tags, pattern)).toBe(newest)
      expect(newestTag(tags.toReversed(), pattern)).toBe(newest)
    })

  test('is in the order of Semantic Versioning, whatever the order of the list', () => {
    const order =
      '1.0.0-0 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1'
    const tags = order.split(' ')
    for (const [at, tag] of tags.entries())
      expect(newestTag(tags.slice(0, at + 1).toSorted(), '1.*-*')).toBe(tag)
  })

  test('is found among 100,000 tags, and hostile ones, at once', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `1.${at}.0-${'a.'.repeat(20)}b`)
    const hostile = [`1.${'9'.repeat(128)}`, '-'.repeat(128), `1${'.1'.repeat(60)}`, '']
    const begun = performance.now()
    expect(newestTag([...many, ...hostile], '1.*-*')).toBe(many.at(-1)!)
    expect(performance.now() - begun).toBeLessThan(2000)
  })
})

describe('the image of a project', () => {
  test('has a tag, a digest or a pattern', () => {
    for (const [text, pattern] of [
      ['nginx', null],
      ['nginx:1.29', null],
      ['nginx:1.*', '1.*'],
      ['registry.example.com:5000/team/app:v1.*-rc.*', 'v1.*-rc.*'],
      ['nginx:*', '*'],
      [`nginx@sha256:${'a'.repeat(64)}`, null],
    ] as const)
      expect([text, parseImage(text)?.pattern]).toEqual([text, pattern])
  })

  test('takes no other kind of pattern', () => {
    for (const text of [
      'nginx:^1.2',
      'nginx:~1.2',
      'nginx:>=1',
      'nginx:1.*.3',
      'nginx:1*',
      'nginx:1.2.3.4.*',
      'nginx:*.*',
      'nginx:1.*-',
      'nginx:1.*-*a',
      'nginx:1:1.*',
      `nginx@sha256:${'a'.repeat(64)}:1.*`,
      'ngi*nx:1',
      '*:1.*',
      'localhost:5000:1.*',
      `nginx:${'1.'.repeat(60)}*`,
      `nginx:1.*-${'a'.repeat(200)}`,
    ])
      expect([text, parseImage(text)]).toEqual([text, null])
  })

  test('is named with another tag as it was entered', () => {
    for (const [image, named] of [
      ['nginx', 'nginx:2'],
      ['nginx:1.*', 'nginx:2'],
      ['localhost:5000/app', 'localhost:5000/app:2'],
      ['localhost:5000/app:1', 'localhost:5000/app:2'],
      [`docker.io/app:1@sha256:${'a'.repeat(64)}`, 'docker.io/app:2'],
    ] as const)
      expect(withTag(image, '2')).toBe(named)
  })
})
