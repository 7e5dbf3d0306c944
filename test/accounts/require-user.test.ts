import { describe, expect, test } from 'bun:test'
import { accountsApp, ada, bob, registered, Visitor } from './visitor.ts'

describe('without a session', () => {
  const visitor = () => new Visitor(accountsApp().app)

  test('a browser is led to the login', async () => {
    const response = await visitor().get('/dashboard')
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/login'])
  })

  test('htmx is told to go there', async () => {
    const headers = { 'HX-Request': 'true' }
    const response = await visitor().get('/settings/sessions', { headers })
    expect([response.status, response.headers.get('HX-Redirect')]).toEqual([401, '/login'])
    expect(await response.text()).not.toContain('<html')
  })

  test('a program gets 401 as problem+json', async () => {
    const response = await visitor().get('/dashboard', { accept: 'application/json' })
    expect(response.status).toBe(401)
    expect(response.headers.get('Content-Type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({ status: 401, detail: 'Log in first.' })
  })

  test('a change asks for a login too, with its token and without', async () => {
    expect((await visitor().delete('/settings/sessions')).status).toBe(401)
    expect((await visitor().delete('/settings/sessions', { csrf: null })).status).toBe(401)
  })

  test('HEAD is a GET and no way around', async () => {
    const response = await accountsApp().app.request('/dashboard', { method: 'HEAD' })
    expect(response.status).toBe(303)
  })

  test('what does not exist is not found, and a wrong method is told so', async () => {
    expect((await visitor().get('/nothing-here')).status).toBe(404)
    expect((await visitor().json('/nothing-here', {}, { csrf: null })).status).toBe(404)
    const response = await visitor().json('/admin', {}, { csrf: null })
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  })
})

test('what is for admins is refused to a member', async () => {
  const { app } = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
  const admin = await registered(app, ada)
  const member = await registered(app, bob)
  expect((await admin.get('/admin')).status).toBe(200)
  expect((await member.get('/admin')).status).toBe(403)
})

test('a page never learns the hash of the password', async () => {
  const visitor = await registered(accountsApp().app, ada)
  const user = (await (await visitor.get('/dashboard')).json()) as object
  expect(Object.keys(user).sort()).toEqual(['email', 'id', 'name', 'role'])
})
