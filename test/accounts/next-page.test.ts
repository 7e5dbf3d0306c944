import { expect, test } from 'bun:test'
import { nextPage } from '../../src/accounts/next-page.ts'

test.each(['/', '/projects', '/projects/1?tab=a&b=%2F%2Fx#line-7', '/envs/%09x'])(
  '%p is one of our pages',
  (path) => expect(nextPage(path)).toBe(path),
)

test.each([
  ...[
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '///evil.example',
    '/\t/evil.example',
  ],
  ...['/\n/evil.example', '/ /evil.example', ' //evil.example', '/\r\nSet-Cookie: a=b', '/\0'],
  ...['https:evil.example', 'https://evil.example', 'javascript:alert(1)', 'data:text/html,x'],
  ...['projects', '', undefined, '/..//evil.example', '/./\\evil.example', '@evil.example'],
])('%p leads to the dashboard', (path) => expect(nextPage(path)).toBe('/dashboard'))
