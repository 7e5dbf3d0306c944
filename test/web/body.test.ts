import { expect, test } from 'bun:test'
import { Hono } from 'hono'
import { z } from 'zod'
import { camelCase, snakeCase, readBody } from '../../src/web/body.ts'
import { factory } from '../../src/web/factory.ts'
import { input } from '../../src/web/input.ts'

test('a field has one name in JSON and one in forms', () => {
  for (const [json, form] of [
    ['hostPort', 'host_port'],
    ['memoryMb', 'memory_mb'],
    ['name', 'name'],
  ] as const) {
    expect(snakeCase(json)).toBe(form)
    expect(camelCase(form)).toBe(json)
  }
})

test('the names of variables stay as they are', () => {
  for (const name of ['POSTGRES_PASSWORD', 'GITEA__server__DOMAIN', 'A1', 'url'])
    expect(snakeCase(name)).toBe(name)
})

test('a name in a form reaches no object but its own', async () => {
  const app = new Hono().post('/', async (c) => c.json((await readBody(c)).data))
  const names = ['constructor.keys', 'toString.call', 'build_settings.start', 'build_settings.spa']
  const response = await app.request('/', {
    method: 'POST',
    body: new URLSearchParams(names.map((name): [string, string] => [name, 'x'])),
  })
  expect(await response.json()).toEqual({
    constructor: { keys: 'x' },
    toString: { call: 'x' },
    buildSettings: { start: 'x', spa: 'x' },
  })
  expect(typeof Object.keys).toBe('function')
})

test('an answer in place of which no form is shown again is sent as it is', async () => {
  const sent = Response.json({})
  const app = factory.createApp().post('/', input(z.object({})), () => sent)
  const headers = { 'Content-Type': 'application/json' }
  expect(await app.request('/', { method: 'POST', headers, body: '{}' })).toBe(sent)
})
