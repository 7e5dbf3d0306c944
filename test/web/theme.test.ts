import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'

const html = { Accept: 'text/html' }

test('a chosen theme is painted from the first byte, with and without a login', async () => {
  const t = testApp()
  t.logIn('ada@example.com')
  const pageWith = async (cookie: string) =>
    (await t.app.request('/login', { headers: { ...html, Cookie: cookie } })).text()
  expect(await pageWith('svc_theme=dark')).toContain('data-theme="dark" class="dark"')
  expect(await pageWith('svc_theme=light')).toContain('<html lang="en" data-theme="light">')
  for (const other of ['', 'svc_theme=system', 'svc_theme="><script>'])
    expect(await pageWith(other)).toContain('<html lang="en">')
})

test('without script a form switches the theme and leads back to the page', async () => {
  const { ada } = withAda(testApp())
  const send = (theme: string, page = '/services') =>
    ada.send('/theme', {
      method: 'POST',
      body: new URLSearchParams({ theme }),
      headers: { ...html, Referer: `http://localhost${page}`, Host: 'localhost' },
    })
  const dark = await send('dark')
  expect(dark.status).toBe(303)
  expect(dark.headers.get('Location')).toBe('/services')
  expect(dark.headers.get('Set-Cookie')).toMatch(/^svc_theme=dark; Max-Age=31536000; Path=\//)
  expect((await send('system')).headers.get('Set-Cookie')).toContain('svc_theme=; Max-Age=0')
  expect((await send('pink')).status).toBe(422)
  expect((await send('dark', '//evil.example/x')).headers.get('Location')).toBe('/')
})
