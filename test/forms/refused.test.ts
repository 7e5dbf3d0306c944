import { expect, test } from 'bun:test'
import { getSession } from '../../src/accounts/store.ts'
import { hashToken } from '../../src/platform/secrets.ts'
import { aSession } from '../support/session.ts'
import { testApp } from '../support/app.ts'
import { formsOf } from './page-forms.ts'

/** A logged-in browser without script, of whose token is known what the server thinks. */
function browserOf(t: ReturnType<typeof testApp>, userId: string) {
  const session = `svc_session=${aSession(t, userId)}`
  let csrf = ''
  async function ask(path: string, init: RequestInit = {}) {
    const headers = { Accept: 'text/html', Cookie: `${session}${csrf}` }
    const answer = await t.app.request(path, { ...init, headers })
    const given = /svc_csrf=[^;]+/.exec(answer.headers.getSetCookie().join())
    if (given) csrf = `; ${given[0]}`
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  const send = (path: string, fields: Record<string, string>) =>
    ask(path, { method: 'POST', body: new URLSearchParams(fields) })
  return { ask, send }
}

const project = { name: 'site', repository_url: 'https://git.example.com/team/site.git' }

test('a form that was open too long is drawn again with what was typed, and is taken the next time', async () => {
  const t = testApp()
  const { user } = t.logIn('ada@example.com')
  const { send, ask } = browserOf(t, user.id)
  const refused = await send('/projects', { ...project, csrf_token: 'of.yesterday' })
  expect(refused.status).toBe(403)
  expect(refused.text).toContain('open too long')
  const form = (await formsOf(refused.text, '/projects')).find((one) => one.action === '/projects')!
  const fields = Object.fromEntries(form.fields.map(({ name, value }) => [name, value]))
  expect(fields).toMatchObject(project)
  expect((await ask('/projects')).text).not.toContain('>site<')

  expect((await send('/projects', fields)).status).toBe(303)
})

test('a button of a page that was open too long changes nothing, and is pressed again where that is said', async () => {
  const t = testApp()
  const { user } = t.logIn('ada@example.com')
  const other = aSession(t, user.id)
  const { send, ask } = browserOf(t, user.id)
  const refused = await send('/settings/sessions', {
    _method: 'DELETE',
    csrf_token: 'of.yesterday',
  })
  expect([refused.status, refused.text.includes('open too long')]).toEqual([403, true])
  expect(isAlive(t, other)).toBe(true)
  const form = (await formsOf(refused.text, '/')).find(
    ({ action }) => action === '/settings/sessions',
  )!
  const fields = Object.fromEntries(form.fields.map(({ name, value }) => [name, value]))
  expect((await send('/settings/sessions', fields)).status).toBe(303)
  expect(isAlive(t, other)).toBe(false)
  expect((await ask('/settings/sessions')).status).toBe(200)
})

test('a question that was open too long is answered by the next press', async () => {
  const t = testApp()
  const { user } = t.logIn('ada@example.com')
  const { send } = browserOf(t, user.id)
  const asked = { _method: 'DELETE', csrf_token: 'of.yesterday' }
  const page = await send('/settings/sessions', { ...asked, _question: 'End them?' })
  const form = (await formsOf(page.text, '/')).find(
    ({ action }) => action === '/settings/sessions',
  )!
  const fields = Object.fromEntries(form.fields.map(({ name, value }) => [name, value]))
  expect((await send('/settings/sessions', fields)).status).toBe(303)
})

const isAlive = (t: ReturnType<typeof testApp>, token: string) =>
  getSession(t.db, hashToken(token)) !== undefined

test('it is drawn again for whom it is, and for no one else', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const bob = t.logIn('bob@example.com')
  const made = await ada.post('/projects', { name: 'site', repositoryUrl: project.repository_url })
  const environments = await ada.get(`/projects/${made.json.id}/envs`)
  const path = `/envs/${environments.json.items[0].id}/variables`
  const { send } = browserOf(t, bob.user.id)
  expect((await send(path, { key: 'A', value: '1', csrf_token: 'x.y' })).status).toBe(404)
  const invites = await send('/settings/invites', { csrf_token: 'x.y' })
  expect([invites.status, invites.text.includes('Only an admin')]).toEqual([403, true])
})

test.each([
  ['/auth/login', '/login'],
  ['/services/compose', '/services/compose/configure'],
])('what only forms are sent to leads to its form: %s', async (path, to) => {
  const t = testApp()
  const { user } = t.logIn('ada@example.com')
  const { ask } = browserOf(t, user.id)
  const { status, headers } = await ask(path)
  expect([status, headers.get('Location')]).toEqual([303, to])
})

test('registering is offered where one may register', async () => {
  for (const [registration, isOffered] of [
    ['closed', false],
    ['invite', false],
    ['open', true],
  ] as const) {
    const t = testApp({ DAVIT_REGISTRATION: registration })
    t.logIn('ada@example.com')
    for (const path of ['/', '/login']) {
      const answer = await t.app.request(path, { headers: { Accept: 'text/html' } })
      expect((await answer.text()).includes('/auth/register'), `${path} ${registration}`).toBe(
        isOffered,
      )
    }
  }
})

test('a login behind a form whose session had ended says what happened', async () => {
  const t = testApp()
  t.logIn('ada@example.com')
  const headers = {
    Accept: 'text/html',
    Host: 'localhost',
    Referer: 'http://localhost/projects/new',
  }
  const body = new URLSearchParams(project)
  const sent = await t.app.request('/projects', { method: 'POST', body, headers })
  expect([sent.status, sent.headers.get('Location')]).toEqual([303, '/login'])
  const Cookie = sent.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const login = await t.app.request('/login', { headers: { Accept: 'text/html', Cookie } })
  expect(await login.text()).toContain('Your session had ended')
  const other = await t.app.request('/login', { headers: { Accept: 'text/html' } })
  expect(await other.text()).not.toContain('Your session had ended')
})
