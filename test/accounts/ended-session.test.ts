import { expect, test } from 'bun:test'
import { deleteSessionsOf } from '../../src/accounts/store.ts'
import { accountsApp, ada, registered, Visitor } from './visitor.ts'

/** Logged in when the page was opened, and not any more when its form is sent. */
async function ended() {
  const t = accountsApp()
  const visitor = await registered(t.app, ada)
  const [{ id }] = t.db.$client.query<{ id: string }, []>('SELECT id FROM users').all() as [
    { id: string },
  ]
  await visitor.token()
  deleteSessionsOf(t.db, id)
  return { ...t, visitor }
}

const logIn = (visitor: Visitor) => visitor.post('/auth/login', ada)

test('a form whose session has ended leads to the login, and from there back to its page', async () => {
  const { visitor } = await ended()
  const headers = { Referer: 'http://localhost/settings/profile?from=menu', Host: 'localhost' }
  const sent = await visitor.post('/settings/tokens', { name: 'ci' }, { headers })
  expect([sent.status, sent.headers.get('Location')]).toEqual([303, '/login'])
  visitor.cookies.delete('svc_csrf')
  await visitor.get('/login')
  expect((await logIn(visitor)).headers.get('Location')).toBe('/settings/profile?from=menu')
})

test('so does what a script sends', async () => {
  const { visitor } = await ended()
  const headers = {
    'HX-Request': 'true',
    'HX-Current-URL': 'http://localhost/settings/sessions',
    Host: 'localhost',
  }
  const sent = await visitor.delete('/settings/sessions', { accept: 'text/html', headers })
  expect([sent.status, sent.headers.get('HX-Redirect')]).toEqual([401, '/login'])
  await visitor.get('/login')
  expect((await logIn(visitor)).headers.get('Location')).toBe('/settings/sessions')
})

test.each([
  ['a page of another site', { Referer: 'https://evil.example/settings/tokens' }],
  ['no page at all', {}],
])('one that was sent from %s leads to the dashboard afterwards', async (_, from) => {
  const { visitor } = await ended()
  const headers = { ...from, Host: 'localhost' }
  const sent = await visitor.post('/settings/tokens', { name: 'ci' }, { headers })
  expect(sent.headers.get('Location')).toBe('/login')
  await visitor.get('/login')
  expect((await logIn(visitor)).headers.get('Location')).toBe('/dashboard')
})

test('a long form of a session that has ended leads there too, though a stranger may send little', async () => {
  const { visitor } = await ended()
  const sent = await visitor.post('/settings/tokens', { name: 'x'.repeat(100_000) })
  expect([sent.status, sent.headers.get('Location')]).toEqual([303, '/login'])
})
