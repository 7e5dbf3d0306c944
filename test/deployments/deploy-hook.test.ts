import { describe, expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { makeToken } from '../../src/accounts/token-store.ts'
import { apiTokens, auditEvents } from '../../src/db/schema.ts'
import { asToken } from '../accounts/visitor.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { anApp, aProject, cancel, finished } from './apps.ts'
import { statusOf } from './events.ts'

type Asked = Record<string, unknown>

/** A project on the simulated engine, with the token of its pipeline. */
async function withPipeline(options?: Parameters<typeof simulatedApp>[1]) {
  const { t, ada } = withAda(simulatedApp({}, options))
  const project = await aProject(t, ada, anApp('x'))
  const hook = await hookOf(t, ada, project.id)
  const { environmentId, repository } = project
  return { t, ada, project, hook, environmentId, commit: repository.head }
}

async function hookOf(t: TestApp, client: ReturnType<TestApp['logIn']>, projectId: string) {
  const asked = { name: 'pipeline', scopes: ['deploy'], projectId }
  const { status, json } = await client.post('/settings/tokens', asked)
  expect([status, json.projectId]).toEqual([201, projectId])
  const call = asToken(t.app, json.token)
  const send = async (body: Asked, path = '/hooks/deploy', method = 'POST') => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await call(method, path, { body: JSON.stringify(body), headers })
    const text = await response.text()
    return { status: response.status, text, json: text ? JSON.parse(text) : null, response }
  }
  return Object.assign(send, { id: json.id as string, token: json.token as string, call })
}

test('a pipeline deploys the commit that it names, and waits for the end', async () => {
  const { t, ada, project, hook, environmentId, commit } = await withPipeline()
  project.repository.commit(anApp('newer'))

  const { status, json, text, response } = await hook({ environmentId, commit, wait: true })

  expect([status, json.status, json.commit.hash]).toEqual([201, 'running', commit])
  expect(text).toStartWith('\n')
  expect(response.headers.get('Location')).toBe(`/projects/${project.id}/deployments/${json.id}`)
  expect(json).toMatchObject({ trigger: 'api', triggeredBy: ada.user.email, environmentId })
  const [event] = t.db.select().from(auditEvents).all().slice(-1)
  expect(event).toMatchObject({ action: 'deployment.triggered', details: { token: 'pipeline' } })
})

test('without wait the answer is the queued deployment, of the branch without a commit', async () => {
  const { ada, project, hook, environmentId } = await withPipeline()
  const newest = project.repository.commit(anApp('newer'))
  const { status, json } = await hook({ environmentId })
  expect([status, json.status]).toEqual([201, 'pending'])
  expect((await finished(ada, json)).commit.hash).toBe(newest)
})

test('a deployment that fails, is cancelled or superseded is the answer too', async () => {
  const { t, ada, project, hook, environmentId } = await withPipeline()
  const missing = await hook({ environmentId, commit: 'a'.repeat(40), wait: true })
  expect(missing.json).toMatchObject({ status: 'failed', error: { code: 'unknown_commit' } })

  t.deps.jobs.wake = () => {}
  const [first, second] = [
    hook({ environmentId, wait: true }),
    hook({ environmentId, commit: project.repository.head, wait: true }),
  ]
  expect((await first).json.status).toBe('superseded')
  const [waiting] = (await ada.get(`/projects/${project.id}/deployments`)).json.items
  await cancel(ada, waiting)
  expect((await second).json).toMatchObject({ id: waiting.id, status: 'cancelled' })
})

test('the same call again joins the deployment that has not ended, and deploys once', async () => {
  const { ada, project, hook, environmentId, commit } = await withPipeline({ jobsWait: true })
  const first = await hook({ environmentId, commit })
  const again = await hook({ environmentId, commit })
  expect([first.status, again.status, again.json.id]).toEqual([201, 200, first.json.id])
  expect((await ada.get(`/projects/${project.id}/deployments`)).json.items).toHaveLength(1)

  // a branch may have moved since
  const branch = await hook({ environmentId })
  expect([branch.status, await statusOf(ada, first.json)]).toEqual([201, 'superseded'])
})

test('whoever waits hears what is known when Davit stops, and nothing once the token is revoked', async () => {
  const { t, ada, hook, environmentId, commit } = await withPipeline({ jobsWait: true })
  const body = JSON.stringify({ environmentId, commit, wait: true })
  const headers = { 'Content-Type': 'application/json' }
  const other = await hookOf(t, ada, (await ada.get('/projects')).json.items[0].id)
  const revoked = await other.call('POST', '/hooks/deploy', { body, headers })
  const kept = await hook.call('POST', '/hooks/deploy', { body, headers })
  expect([revoked.status, kept.status]).toEqual([201, 200])

  await ada.delete(`/settings/tokens/${other.id}`)
  expect(await revoked.text()).toBe('\n')
  await Promise.all([
    t.streams.endAll(),
    kept.json().then((json) => expect(json).toMatchObject({ status: 'pending' })),
  ])
})

test('one more wait than a user may have streams is refused before it deploys', async () => {
  const { t, ada, project, hook, environmentId } = await withPipeline({ jobsWait: true })
  for (let open = 0; open < t.streams.limit; open++)
    t.streams.enter(ada.user.id, { isAllowed: () => true, end() {} })
  expect((await hook({ environmentId, wait: true })).status).toBe(429)
  expect((await ada.get(`/projects/${project.id}/deployments`)).json.items).toEqual([])
})

describe('refused, with nothing deployed, is', () => {
  test('a body that says too little, or what the project is not made of', async () => {
    const { ada, project, hook, environmentId } = await withPipeline({ jobsWait: true })
    const wrong: [Asked, string][] = [
      [{}, 'environmentId'],
      [{ environmentId: Bun.randomUUIDv7() }, 'environment_id'],
      [{ environmentId, commit: 'main' }, 'commit'],
      [{ environmentId, image: 'evil.example.com/app:1' }, 'image'],
      [{ environmentId, wait: 'perhaps' }, 'wait'],
    ]
    for (const [body, field] of wrong) {
      const { status, json } = await hook(body)
      expect([status, json.errors[0].field.toLowerCase().replace('_', '')]).toEqual([
        422,
        field.toLowerCase().replace('_', ''),
      ])
    }
    expect((await ada.get(`/projects/${project.id}/deployments`)).json.items).toEqual([])
  })

  test('another project’s environment, as one that does not exist', async () => {
    const { t, ada, hook } = await withPipeline({ jobsWait: true })
    const other = await aProject(t, ada, anApp('y'), { name: 'other' })
    const asBody = async (environmentId: string) => {
      const { status, json } = await hook({ environmentId })
      return { status, errors: json.errors }
    }
    expect(await asBody(other.environmentId)).toEqual(await asBody(Bun.randomUUIDv7()))
    expect((await ada.get(`/projects/${other.id}/deployments`)).json.items).toEqual([])
  })

  test('a session, a token of every project, and one that may only read', async () => {
    const { t, ada, project, environmentId } = await withPipeline({ jobsWait: true })
    expect((await ada.post('/hooks/deploy', { environmentId })).status).toBe(403)
    const key = { userId: ada.user.id, name: 'ci', expiresInDays: null }
    for (const limit of [
      { scopes: ['write' as const], projectId: null },
      { scopes: ['read' as const], projectId: project.id },
    ]) {
      const call = asToken(t.app, makeToken(t.db, { ...key, ...limit }).token)
      const body = new URLSearchParams({ environment_id: environmentId })
      expect((await call('POST', '/hooks/deploy', { body })).status).toBe(403)
    }
  })
})

describe('a token that is limited to a project', () => {
  test('reads and deploys it alone: all other routes refuse it, whatever exists', async () => {
    const { t, ada, project, environmentId, hook } = await withPipeline({ jobsWait: true })
    const other = await aProject(t, ada, anApp('y'), { name: 'other' })
    const own = `/projects/${project.id}`
    const { json } = await hook({ environmentId })
    for (const path of [own, `${own}/envs`, `${own}/deployments`, `${own}/deployments/${json.id}`])
      expect((await hook.call('GET', path)).status, path).toBe(200)
    const body = new URLSearchParams({ environment_id: other.environmentId })
    expect((await hook.call('POST', `${own}/deployments`, { body })).status).toBe(422)

    const fill = (path: string, id: string) =>
      path.replace(/:id(\{[^}]*\}+)?/, id).replace(/:\w+(\{[^}]*\}+)?/g, Bun.randomUUIDv7())
    for (const { method, path } of t.app.routes) {
      if (method === 'ALL' || /^\/(metrics|webhooks|hooks\/registry)\b/.test(path)) continue
      const name = `${method} ${path}`
      const elsewhere = await hook.call(method, fill(path, other.id))
      if (path !== '/hooks/deploy' && !path.startsWith('/health') && !path.startsWith('/static'))
        expect(elsewhere.status, name).toBe(403)
      if (/variables|links|settings|terminal|keys/.test(path))
        expect((await hook.call(method, fill(path, project.id))).status, name).toBe(403)
    }
  })

  test('can’t have write, nor the project of someone else, and goes with its project', async () => {
    const { t, ada, project, hook } = await withPipeline({ jobsWait: true })
    const bob = t.logIn('bob@example.com')
    const asked = { name: 'ci', scopes: ['deploy'], projectId: project.id }
    const write = await ada.post('/settings/tokens', { ...asked, scopes: ['read', 'write'] })
    expect([write.status, write.json.errors[0].field]).toEqual([422, 'scopes'])
    const foreign = await bob.post('/settings/tokens', asked)
    expect([foreign.status, foreign.json.errors[0].field]).toEqual([422, 'projectId'])

    const { text } = await ada.htmx('GET', '/settings/tokens/new')
    expect(text).toContain(`<option value="${project.id}"`)
    expect((await ada.page('/settings/tokens')).text).toContain(`href="/projects/${project.id}"`)

    expect((await ada.delete(`/projects/${project.id}`)).status).toBe(200)
    expect(t.db.select().from(apiTokens).all()).toEqual([])
    expect((await hook.call('GET', `/projects/${project.id}`)).status).toBe(401)
  })
})

describe('the step in the documentation', () => {
  const text = Bun.file(join(import.meta.dir, '../../assets/docs/ci.md')).text()
  /** The commands of each, as its runner joins them for a shell. */
  const commandsOf: Record<string, (step: any) => string> = {
    'GitHub Actions': ({ steps: [{ run }] }) => run,
    'GitLab CI': ({ deploy: { script } }) => script.join('\n'),
    Woodpecker: ({ steps: { deploy } }) => deploy.commands.join('\n'),
  }
  const variables = { 'GitHub Actions': 'GITHUB_SHA', Woodpecker: 'CI_COMMIT_SHA' } as const

  test.each(Object.keys(commandsOf))(
    'for %s is green when the app runs, else red',
    async (title) => {
      const { t, hook, environmentId, commit } = await withPipeline()
      const server = Bun.serve({ port: 0, fetch: (request) => t.app.fetch(request, {}) })
      onTestFinished(() => server.stop(true))
      const section = (await text).split(`## ${title}\n`)[1]!
      const yaml = /```yaml\n([^]*?)```/.exec(section)![1]!
      const script = commandsOf[title]!(Bun.YAML.parse(yaml))
        .replace('ENVIRONMENT_ID', environmentId)
        .replace('https://davit.example.com', server.url.origin)
      expect(script).toContain('/hooks/deploy')
      const run = async (hash: string, token = hook.token) => {
        const name = variables[title as keyof typeof variables] ?? 'CI_COMMIT_SHA'
        const env = { PATH: process.env.PATH!, DAVIT_TOKEN: token, [name]: hash }
        const shell = Bun.spawn(['sh', '-e', '-c', script], { env, stderr: 'pipe' })
        const output = await new Response(shell.stdout).text()
        return [await shell.exited, output] as const
      }
      expect(await run(commit)).toEqual([0, expect.stringContaining('"status":"running"')])
      const [failed, why] = await run('a'.repeat(40))
      expect([failed, why]).toEqual([1, expect.stringContaining('unknown_commit')])
      expect(await run(commit, 'dvt_wrong')).toEqual([1, expect.stringContaining('401')])
    },
  )
})
