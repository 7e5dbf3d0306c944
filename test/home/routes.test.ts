import { expect, onTestFinished, test } from 'bun:test'
import { insertUser } from '../../src/accounts/store.ts'
import { createApp } from '../../src/app.tsx'
import { parseConfig } from '../../src/config.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { testApp } from '../support/app.ts'
import { TestClient } from '../support/client.ts'
import { contentsOf } from '../support/refusals.ts'

const valid = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }

/** The product with an engine that is not the one of this machine. */
function retryWhileEngineDown(host: string, env: Record<string, string> = {}) {
  const t = testApp()
  const config = { ...t.config, requestTimeout: parseConfig(env).requestTimeout }
  const deps = { ...t.deps, config, docker: connectDocker({ host }) }
  const user = insertUser(t.db, {
    email: 'ada@example.com',
    name: null,
    passwordHash: '',
    role: 'member',
  })
  return { t, ada: new TestClient(deps, createApp(deps), user) }
}

/** An engine that takes calls and never answers. */
function aHangingEngine() {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  onTestFinished(() => listener.stop(true))
  return `tcp://127.0.0.1:${listener.port}`
}

test('an empty installation leads to its first account, another one to its front page', async () => {
  const t = testApp()
  const first = await t.app.request('/', { headers: { Accept: 'text/html' } })
  expect(first.status).toBe(303)
  expect(first.headers.get('Location')).toBe('/auth/register')

  const ada = t.logIn('ada@example.com')
  const front = await t.app.request('/', { headers: { Accept: 'text/html' } })
  expect(front.status).toBe(200)
  expect(await front.text()).toContain('From a git URL to a running app')
  expect((await ada.page('/')).headers.get('Location')).toBe('/dashboard')
})

test('the dashboard shows what is mine, newest first', async () => {
  const t = testApp()
  const ada = t.logIn('ada@example.com')
  const empty = await ada.page('/dashboard')
  expect(empty.text).toContain('Nothing runs here yet')
  for (const name of ['first', 'second']) await ada.post('/projects', { ...valid, name })
  await t.logIn('bob@example.com').post('/projects', { ...valid, name: 'of someone else' })

  const { json } = await ada.get('/dashboard')
  expect(json.projects.map(({ name }: { name: string }) => name)).toEqual(['second', 'first'])
  expect(json.deployments).toEqual([])
  expect(json.engine.ok).toBe(true)
  expect(JSON.stringify(json)).not.toContain('ebhookSecret')
  expect((await ada.page('/dashboard')).text).not.toContain('of someone else')
  expect((await ada.htmx('GET', '/dashboard')).text).not.toContain('<html')
})

test('without an engine the pages work, the dashboard says so, and nothing is deleted', async () => {
  const { t, ada } = retryWhileEngineDown('unix:///nonexistent/docker.sock')
  const { json: project } = await ada.post('/projects', valid)
  const { json: second } = await ada.post(`/projects/${project.id}/envs`, { name: 'staging' })
  for (const path of ['', '/settings', '/deployments', '/envs'])
    expect((await ada.page(`/projects/${project.id}${path}`)).status, path).toBe(200)
  const dashboard = await ada.page('/dashboard')
  expect(dashboard.status).toBe(200)
  expect(dashboard.text).toContain('The Docker Engine does not answer')
  expect((await ada.get('/dashboard')).json.engine.detail).toContain('/nonexistent/docker.sock')

  const before = contentsOf(t)
  for (const answer of [
    await ada.delete(`/projects/${project.id}`),
    await ada.delete(`/projects/${project.id}/envs/${second.id}`),
    await ada.get(`/projects/${project.id}/delete`),
  ]) {
    expect(answer.status).toBe(503)
    expect(answer.json).toMatchObject({ code: 'engine_unreachable', title: 'Unavailable' })
  }
  expect((await ada.htmx('DELETE', `/projects/${project.id}`)).text).toStartWith(
    '<div class="alert"',
  )
  expect(contentsOf(t)).toEqual(before)
  expect((await t.app.request('/health/ready')).status).toBe(200)
})

test('an engine that hangs delays the dashboard by a second, and ends in 504 elsewhere', async () => {
  const { ada } = retryWhileEngineDown(aHangingEngine(), { DAVIT_REQUEST_TIMEOUT: '2' })
  const { json: project } = await ada.post('/projects', valid)
  const dashboard = await ada.page('/dashboard')
  expect(dashboard.status).toBe(200)
  expect(dashboard.text).toContain('takes long to answer')
  const late = await ada.get(`/projects/${project.id}/delete`)
  expect(late.status).toBe(504)
  expect(late.json).toMatchObject({
    title: 'Took too long',
    requestId: late.headers.get('X-Request-Id'),
  })
})
