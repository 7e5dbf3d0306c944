import { expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { routeName } from '../../src/accounts/token-scope.ts'
import { callsOf } from '../../src/api/calls.ts'
import { testApp } from '../support/app.ts'
import { comparison, readDocument } from '../support/openapi.ts'

/** Pages, dialogs and forms: all else that has a route is for programs. */
const forPeople = [
  'GET /',
  'GET /login',
  'GET /auth/login',
  'GET /auth/register',
  'GET /auth/forgotten',
  'GET /auth/password',
  'GET /auth/oauth',
  'GET /auth/oauth/callback',
  'GET /dashboard',
  'GET /live',
  'GET /api',
  'GET /static/*',
  'POST /theme',
  'GET /projects/new',
  'GET /projects/:id/delete',
  'GET /projects/:id/envs/new',
  'GET /projects/:id/envs/:envId/edit',
  'GET /envs/:envId/variables/new',
  'GET /envs/:envId/schedules/new',
  'GET /envs/:envId/schedules/:id/edit',
  'GET /envs/:envId/freezes/new',
  'GET /envs/:envId/freezes/:id/edit',
  'GET /envs/:envId/drains/new',
  'GET /envs/:envId/drains/:id/edit',
  'GET /envs/:envId/links/new',
  'GET /envs/:envId/domains/new',
  'GET /services/:id/domains/new',
  'GET /services/compose',
  'GET /services/compose/configure',
  'GET /services/:id/delete',
  'GET /settings/tokens/new',
  'GET /settings/device',
  'GET /settings/git/new',
  'GET /settings/invites/new',
  'GET /settings/git/:id/edit',
  'GET /settings/registries/new',
  'GET /settings/servers/new',
  'GET /settings/servers/:id/edit',
  'GET /settings/registries/:id/edit',
  'GET /settings/targets/new',
  'GET /settings/targets/:id/edit',
  'GET /settings/channels/new',
  'GET /settings/events/notices',
  'GET /settings/channels/:id/edit',
  'GET /settings/users/:id/delete',
]

const davit = { DAVIT_URL: 'https://davit.example.net' }

const documentOf = () => readDocument(testApp(davit).logIn('ada@example.com'))

test('every route is documented or for people, and everything documented has a route', () => {
  const { routes } = testApp().app
  const found = routes.filter(({ method }) => method !== 'ALL').map(routeName)
  const documented = callsOf(routes).map(({ method, path }) => `${method} ${path}`)
  expect([...documented, ...forPeople].toSorted()).toEqual([...new Set(found)].toSorted())
})

test('Redocly finds nothing by its recommended rules', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const source = JSON.stringify(await documentOf())
  const found = await lintFromString({ source, absoluteRef: '/openapi.json', config })
  expect(found.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
})

test('operations have what Spectral asks for beyond that', async () => {
  const { info, tags, servers, paths } = await documentOf()
  expect(info).toMatchObject({ title: 'Davit', contact: {}, description: expect.any(String) })
  expect(servers).toEqual([{ url: davit.DAVIT_URL }])
  const known = tags.map(({ name }) => name)
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  for (const { operationId, tags: own, description, summary } of operations) {
    expect(known, operationId).toContain(own[0]!)
    expect(`${summary} ${description}`, operationId).toMatch(/^\S.+ \S.+\.$/)
  }
  const ids = operations.map(({ operationId }) => operationId)
  expect(ids.filter((id) => !/^[a-zA-Z]+$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

test('a schema is written where it says what the checks take', async () => {
  const { openapi, paths, components } = await documentOf()
  expect(openapi).toBe('3.1.0')
  const { requestBody, responses } = paths['/projects']!.post!
  expect(requestBody!.content['application/json']!.schema).toMatchObject({
    properties: { name: { type: 'string', maxLength: 60 }, deploy: {} },
    required: ['name'],
  })
  expect(responses).toMatchObject({ 201: { headers: { Location: {} } } })
  const { parameters } = paths['/projects/{id}/deployments']!.get!
  expect(parameters).toMatchObject([
    { name: 'id', in: 'path', required: true },
    { name: 'cursor', in: 'query', required: false },
    { name: 'limit', in: 'query', required: false, schema: { maximum: 500 } },
  ])
  const asked = paths['/projects/{id}/settings']!.put!.requestBody!.content['application/json']!
  expect(asked.schema.properties!.buildArgs).toMatchObject({
    anyOf: [{ type: 'object', additionalProperties: { type: 'string' } }, { type: 'null' }],
  })
  expect(components.schemas.Project).toMatchObject({ type: 'object', additionalProperties: false })
})

test('a body or query without a schema that says something is not documented as one', async () => {
  const { paths } = await documentOf()
  const unsaid = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters, requestBody }]) => {
      const { properties = {} } = requestBody?.content['application/json']?.schema ?? {}
      const schemas = [...parameters.map(({ schema }) => schema), ...Object.values(properties)]
      return schemas.some((schema) => Object.keys(schema).length === 0) ? [`${method} ${path}`] : []
    }),
  )
  expect(unsaid).toEqual([])
})

test('a call without a login is refused where the document says that it needs one', async () => {
  const { app } = testApp()
  const document = await documentOf()
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { security }] of Object.entries(methods)) {
      const isOpen = !security.some((one) => 'session' in one || 'token' in one)
      const headers = { Accept: 'application/json' }
      const init = { method: method.toUpperCase(), headers }
      const { status } = await app.request(
        path.replaceAll('{id}', crypto.randomUUID()).replace('{name}', 'security'),
        init,
      )
      const refused = security.some((one) => 'csrf' in one) ? 403 : isOpen ? undefined : 401
      if (!isOpen) expect([401, 403], `${method} ${path}`).toContain(status)
      else if (refused) expect(status, `${method} ${path}`).toBe(refused)
      else expect([200, 401, 415], `${method} ${path}`).toContain(status)
    }
})

test('a token does what its scope gives, as the document says', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const document = await documentOf()
  const { json } = await ada.post('/settings/tokens', { name: 'reader', scopes: ['read'] })
  const Authorization = `Bearer ${json.token}`
  const headers = { Authorization, Accept: 'application/json', 'Content-Type': 'text/plain' }
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { security, description }] of Object.entries(methods)) {
      if (!security.some((one) => 'session' in one)) continue
      const mayRead = /token with the scope (read|metrics)/.test(description)
      const url = path.replaceAll(/\{\w+\}/g, crypto.randomUUID())
      const response = await t.app.request(url, { method: method.toUpperCase(), headers })
      await response.body?.cancel()
      if (mayRead) expect(response.status, `${method} ${path}`).not.toBe(403)
      else expect(response.status, `${method} ${path}`).toBe(403)
    }
})

test('the page lists every call and schema, and has the details of one when they are asked for', async () => {
  const ada = testApp().logIn('ada@example.com')
  const { text } = await ada.page('/api')
  for (const path of ['/projects/{id}', '/envs/{envId}/variables', '/settings/tokens'])
    expect(text).toContain(`<code>${path}</code>`)
  expect(text).toContain('id="Project"')
  expect(text).not.toContain('class="api-schema"')
  const names = Array.from(text.matchAll(/hx-get="(\/api\?open=\w+)"/g), ([, address]) => address!)
  expect(new Set(names).size).toBeGreaterThan(100)
  for (const address of names.filter((_, at) => at % 20 === 0)) {
    const { status, text } = await ada.htmx('GET', address)
    expect(status, address).toBe(200)
    expect(text, address).toContain('class="api-schema"')
  }
  expect((await ada.htmx('GET', '/api?open=getProjectsId')).text).toContain(
    '<a href="#Project">Project</a>',
  )
})

test('without script a link leads to the page with the details of one call', async () => {
  const ada = testApp().logIn('ada@example.com')
  const { text } = await ada.page('/api')
  expect(text).toContain('<a href="/api?open=getProjectsId#getProjectsId">Details</a>')
  const opened = await ada.page('/api?open=getProjectsId')
  expect(opened.text.match(/<details class="api-operation" open=""/g)).toHaveLength(1)
  expect(opened.text).toContain('<a href="#Project">Project</a>')
  expect((await ada.page('/api?open=nothing')).status).toBe(404)
})

test('a field, a status or a kind of answer that is not documented is found', async () => {
  const { answerErrors, bodyErrors } = comparison(await documentOf())
  const json = { status: 200, type: 'application/json', body: { status: 'ok' } }
  expect(answerErrors('GET /health', json)).toEqual([])
  expect(answerErrors('GET /health', { ...json, body: { status: 'ok', more: 1 } })).toEqual([
    expect.stringContaining('must NOT have additional properties'),
  ])
  expect(answerErrors('GET /health', { ...json, body: {} })).not.toEqual([])
  expect(answerErrors('GET /health', { ...json, status: 202 })).not.toEqual([])
  expect(answerErrors('GET /health', { ...json, type: 'text/plain' })).not.toEqual([])
  expect(bodyErrors('POST /projects', { name: 'site' })).toEqual([])
  expect(bodyErrors('POST /projects', { name: 7 })).not.toEqual([])
  expect(bodyErrors('POST /services/:id/stop', {})).not.toEqual([])
})
