import { expect, test } from 'bun:test'
import { operations } from '../src/api/operations.ts'
import * as resources from '../src/api/resources.ts'
import { parseConfig } from '../src/config.ts'
import { testApp } from './support/app.ts'

/** Pages, fragments and what no program asks for. */
const forPeople = new Set([
  'GET /',
  'GET /login',
  'GET /auth/register',
  'GET /auth/oauth',
  'GET /auth/oauth/callback',
  'GET /dashboard',
  'GET /api',
  'GET /api/openapi.json',
  'GET /static/*',
  'GET /health',
  'GET /health/ready',
  'GET /projects/new',
  'GET /projects/:id/delete',
  'GET /projects/:id/envs/new',
  'GET /envs/:envId/variables/new',
  'GET /services/compose/configure',
  'GET /services/:id/delete',
  'GET /settings/tokens/new',
  'GET /settings/git/new',
  'GET /settings/registries/new',
  'POST /webhooks/github',
  'POST /webhooks/gitlab',
  'POST /webhooks/gitea',
  'GET /settings/users/:id/delete',
  'GET /settings/invites',
  'POST /settings/invites',
  'DELETE /settings/invites/:id',
  'POST /settings/identities',
  'DELETE /settings/identities/:id',
])

test('the document describes every route that a program can use, and no other', () => {
  const { app } = testApp()
  const routes = app.routes
    .filter(({ method }) => ['GET', 'POST', 'PUT', 'DELETE'].includes(method))
    .map(({ method, path }) => `${method} ${path.replace(/(:\w+)\{[^/]*\}/, '$1')}`)
    .filter((route) => !forPeople.has(route))
  const described = operations(parseConfig({})).map(
    ({ method, path }) => `${method.toUpperCase()} ${path}`,
  )
  expect(described.toSorted()).toEqual([...new Set(routes)].toSorted())
})

test('the document is OpenAPI 3.1, with the limits that the checks have', async () => {
  const ada = testApp().logIn('ada@example.com')
  const { status, json } = await ada.get('/api/openapi.json')
  expect(status).toBe(200)
  expect(json.openapi).toBe('3.1.0')
  const create = json.paths['/projects'].post
  expect(create.requestBody.content['application/json'].schema.properties.name).toMatchObject({
    type: 'string',
    maxLength: 60,
  })
  expect(json.paths['/projects/{id}'].get.parameters).toMatchObject([{ name: 'id', in: 'path' }])
  const ids = Object.values<Record<string, { operationId: string }>>(json.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  expect(new Set(ids).size).toBe(ids.length)
})

test('answers are what the document says', async () => {
  const ada = testApp().logIn('ada@example.com')
  const project = (await ada.post('/projects', { name: 'a', repositoryUrl: 'https://x.example/r' }))
    .json
  const { items } = (await ada.get(`/projects/${project.id}/envs`)).json
  const variable = (await ada.post(`/envs/${items[0].id}/variables`, { key: 'A', value: 'b' })).json
  const { name } = resources.project.shape
  resources.project.extend({ webhookSecret: name }).strict().parse(project)
  resources.environment.strict().parse(items[0])
  resources.variable.strict().parse(variable)
  resources.listOf(resources.session).parse((await ada.get('/settings/sessions')).json)
  resources.user.strict().parse((await ada.get('/settings/profile')).json)
  resources.problem.strict().parse((await ada.get('/projects/nowhere')).json)
  resources.problem.strict().parse((await ada.post('/projects', {})).json)
})

test('the page shows every call to a person', async () => {
  const ada = testApp().logIn('ada@example.com')
  const { text } = await ada.page('/api')
  for (const path of ['/projects/{id}', '/envs/{envId}/variables', '/settings/tokens'])
    expect(text).toContain(`<code>${path}</code>`)
})
