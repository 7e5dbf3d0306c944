import { expect, test } from 'bun:test'
import { parseConfig } from '../../src/config.ts'
import { isOwnHost } from '../../src/web/own-host.ts'
import { testApp } from '../support/app.ts'
import { contentsOf } from '../support/refusals.ts'

const settings = { DAVIT_URL: 'https://davit.example.com:8443', DAVIT_DOMAIN: 'apps.example.org' }

test.each([
  'localhost',
  'LOCALHOST:3000',
  '127.0.0.1:3000',
  '192.168.1.7',
  '[::1]:3000',
  '[fe80::1]',
  'davit.example.com',
  'Davit.Example.Com.:8443',
  'apps.example.org',
])('%p is a name of this server', (host) => {
  expect(isOwnHost(host, parseConfig(settings))).toBe(true)
})

test.each([
  'evil.example',
  'davit.example.com.evil.example',
  'evil-davit.example.com',
  'example.com',
  'notapps.example.org',
  'shop.apps.example.org', // an app is there
  'localhost.evil.example',
  '127.0.0.1.nip.io',
  'evil.localhost',
  'localhost, evil.example',
  'user@localhost',
  '127.0.0.2:3000', // where apps are
  '',
  ':3000',
])('%p is none', (host) => {
  expect(isOwnHost(host, parseConfig(settings))).toBe(false)
})

test('a name that it listens on is its own', () => {
  expect(isOwnHost('box.lan:3000', parseConfig({ DAVIT_HOST: 'box.lan' }))).toBe(true)
  expect(isOwnHost('box.lan:3000', parseConfig({}))).toBe(false)
})

test('no one becomes the first admin, or anything else, by a name that was made to lead here', async () => {
  const t = testApp()
  const before = contentsOf(t)
  const Host = 'rebound.evil.example:3000'
  const ask = (path: string, init: { method?: string; headers?: object; body?: string } = {}) =>
    t.app.request(path, { ...init, headers: { ...init.headers, Host } } as RequestInit)

  const page = await ask('/auth/register', { headers: { Accept: 'text/html' } })
  expect([page.status, page.headers.getSetCookie()]).toEqual([421, []])
  expect(await page.text()).toMatch(/Wrong address[^]*doesn’t serve that host name[^]*DAVIT_URL/)

  const body = JSON.stringify({ email: 'eve@example.com', password: 'correct horse battery' })
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' }
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/static/app.js'],
    ['GET', '/health/ready'],
    ['GET', '/nowhere'],
    ['POST', '/auth/register'],
    ['POST', '/webhooks/github'],
    ['POST', '/webhooks/gitlab'],
  ] as const) {
    const answer = await ask(path, { method, headers, ...(method === 'POST' && { body }) })
    expect(answer.status, path).toBe(421)
    expect(answer.headers.get('Content-Type'), path).toBe('application/problem+json')
    expect(await answer.json(), path).toMatchObject({ title: 'Wrong address', status: 421 })
  }
  const webhook = await ask('/webhooks/gitea', { method: 'POST', body, headers: {} })
  expect(webhook.headers.get('Content-Type')).toBe('application/problem+json')
  expect((await ask('/health')).status).toBe(200)
  expect(contentsOf(t)).toEqual(before)
})
