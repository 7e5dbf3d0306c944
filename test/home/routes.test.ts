import { expect, onTestFinished, test } from 'bun:test'
import { insertUser } from '../../src/accounts/store.ts'
import { createApp } from '../../src/app.tsx'
import { parseConfig } from '../../src/config.ts'
import { connectDocker, Engines } from '../../src/docker/index.ts'
import { onEngines } from '../../src/runtime/on-engine.ts'
import { testApp, withAda } from '../support/app.ts'
import { TestClient } from '../support/client.ts'
import { contentsOf } from '../support/refusals.ts'

const valid = { name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' }

/** The product with an engine that is not the one of this machine. */
function retryWhileEngineDown(host: string, env: Record<string, string> = {}) {
  const t = testApp()
  const config = { ...t.config, requestTimeout: parseConfig(env).requestTimeout }
  const engines = new Engines([connectDocker({ host })])
  const deps = { ...t.deps, config, ...onEngines(engines) }
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
  const { t, ada } = withAda(testApp())
  const empty = await ada.page('/dashboard')
  expect(empty.text).toContain('Deploy your first app')
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
  expect(dashboard.text).toContain('Docker doesn’t respond')
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

test('the dashboard says how Docker was last while it is asked again, until it is silent for too long', async () => {
  const { t, ada } = withAda(testApp())
  expect((await ada.get('/dashboard')).json.engine.ok).toBe(true)
  let asked = 0
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof t.docker.info>>>()
  t.faults.info = () => {
    asked++
    return promise
  }
  expect((await ada.get('/dashboard')).json.engine.ok).toBe(true)
  for (let ok = true; ok;) ok = (await ada.get('/dashboard')).json.engine.ok
  expect(asked).toBe(1)
  resolve(await t.docker.info())
  await promise
  expect((await ada.get('/dashboard')).json.engine.ok).toBe(true)
})

test('an engine that hangs delays the dashboard by a second, and ends in 504 elsewhere', async () => {
  const { ada } = retryWhileEngineDown(aHangingEngine(), { DAVIT_REQUEST_TIMEOUT: '2' })
  const { json: project } = await ada.post('/projects', valid)
  const dashboard = await ada.page('/dashboard')
  expect(dashboard.status).toBe(200)
  expect(dashboard.text).toContain('is slow to respond')
  const late = await ada.get(`/projects/${project.id}/delete`)
  expect(late.status).toBe(504)
  expect(late.json).toMatchObject({
    title: 'Took too long',
    requestId: late.headers.get('X-Request-Id'),
  })
})

test('a page without entries says what to do first, with the one button that does it', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const { json: project } = await ada.post('/projects', valid)
  const [environment] = (await ada.get(`/projects/${project.id}/envs`)).json.items
  const first = {
    '/services': /href="\/services\/compose\/configure"[^>]*>Use a Compose file</,
    '/settings/git': /hx-get="\/settings\/git\/new"/g,
    '/settings/channels': /hx-get="\/settings\/channels\/new"/g,
    '/settings/events': /href="\/settings\/channels"[^>]*>Set up channels/g,
    '/settings/registries': /hx-get="\/settings\/registries\/new"/g,
    '/settings/tokens': /hx-get="\/settings\/tokens\/new"/g,
    [`/envs/${environment.id}/variables`]:
      /variables\/new"[^>]*hx-get|hx-get="[^"]*variables\/new"/g,
    [`/envs/${environment.id}/links`]: /Add database/g,
    [`/projects/${project.id}/envs/${environment.id}`]: /Add database/g,
    [`/envs/${environment.id}/domains`]: /hx-get="[^"]*domains\/new"/g,
    [`/projects/${project.id}/deployments`]: /Deploy <bdi>production/g,
    [`/projects/${project.id}/deliveries`]: /href="#webhook-setup"/g,
    '/containers': /href="\/projects"[^>]*>Open projects/g,
  }
  const member = t.logIn('member@example.com') // an admin sees all containers of the server
  for (const [path, button] of Object.entries(first)) {
    const { text } = await (path === '/containers' ? member : ada).page(path)
    expect(text, path).toContain('class="empty-state"')
    expect(text.match(button), path).toHaveLength(1)
  }
})

test('an address typed on the dashboard creates a project of its name, or is in the form again', async () => {
  const ada = testApp().logIn('ada@example.com')
  expect((await ada.page('/dashboard')).text).toMatch(/<form[^>]* action="\/projects"/)
  const created = await ada.form('/projects', { repository_url: 'git.example.com/ada/shop' })
  expect(created.status).toBe(303)
  expect((await ada.page(created.headers.get('Location')!)).text).toContain('shop')
  const { status, text } = await ada.form('/projects', { repository_url: 'no <b>address' })
  expect(status).toBe(422)
  expect(text).toContain('value="no &lt;b&gt;address"')
})
