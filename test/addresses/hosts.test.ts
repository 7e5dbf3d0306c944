import { describe, expect, test } from 'bun:test'
import { hostName } from '../../src/addresses/hosts.ts'

describe('the name of a host', () => {
  test.each([
    ['app.example.com', 'app.example.com'],
    ['App.Example.COM', 'app.example.com'],
    ['app.example.com.', 'app.example.com'],
    ['  app.example.com ', 'app.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['site.test', 'site.test'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('%s is %s', (text, name) => {
    expect(hostName.parse(text)).toBe(name)
  })

  test.each([
    'https://app.example.com',
    'app.example.com/x',
    'app.example.com:80',
    '*.example.com',
    'my_app.example.com',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}example`,
    'localhost',
    'app.localhost',
    '127.0.0.1',
    '[::1]',
    '::1',
    '0x7f.1',
    '2130706433',
    'example',
    '-a.example.com',
    'a-.example.com',
    'a..example.com',
    '.example.com',
    'a b.example.com',
    'a\u0000.example.com',
    'user@example.com',
    '$(id).example.com',
    '',
    'xn--a.example',
  ])('is not %p', (text) => {
    expect(hostName.safeParse(text).success).toBe(false)
  })
})
