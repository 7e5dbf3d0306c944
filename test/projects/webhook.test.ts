import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { notTheApi } from '../../src/git/providers/refusals.ts'
import type { ProviderName } from '../../src/git/providers/registry.ts'
import { addSource, token } from '../git/source.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { startProviderServer } from '../support/provider-server.ts'

const servers = {
  github: startProviderServer('github'),
  gitlab: startProviderServer('gitlab'),
  gitea: startProviderServer('gitea'),
}
const { github, gitea } = servers
const davit = 'https://davit.example.com'
const env = { DAVIT_URL: davit }

afterAll(() => Object.values(servers).forEach((server) => server.stop()))
beforeEach(() => {
  for (const server of Object.values(servers)) {
    server.repositories.length = 0
    server.requests.length = 0
    server.mode = 'answer'
  }
})

/** A project of the client whose repository the provider has. */
async function aProject(user: TestClient, kind: ProviderName, name = 'site') {
  const server = servers[kind]
  const known = server.repositories.find(({ fullName }) => fullName === 'team/app')
  const repository = known ?? server.add({ fullName: 'team/app' })
  const sourceId = await addSource(user, server, name)
  const { json } = await user.post('/projects', { name, sourceId, repository: 'team/app' })
  const path = `/projects/${json.id}`
  return { path, hook: `${path}/webhook`, secret: json.webhookSecret as string, repository }
}

describe.each(['github', 'gitlab', 'gitea'] as const)('a webhook at %s', (kind) => {
  test('is registered, found and removed, with the secret of the project', async () => {
    const ada = testApp(env).logIn('ada@example.com')
    const { hook, secret, repository } = await aProject(ada, kind)
    const url = `${davit}/webhooks/${kind}`
    const absent = { provider: kind, url, registered: false, own: false, sharedWith: null }
    expect((await ada.get(hook)).json).toEqual(absent)

    const made = await ada.post(hook)
    expect(made.status).toBe(201)
    expect(made.headers.get('Location')).toBe(hook)
    expect(made.text).not.toContain(secret)
    expect(repository.hooks).toMatchObject([{ url, secret }])
    expect((await ada.get(hook)).json).toEqual({ ...absent, registered: true, own: true })

    expect((await ada.delete(hook)).json).toEqual(absent)
    expect(repository.hooks).toEqual([])
    expect((await ada.delete(hook)).status).toBe(200)
  })

  test('gets the new secret when it is changed', async () => {
    const ada = testApp(env).logIn('ada@example.com')
    const { path, hook, repository } = await aProject(ada, kind)
    await ada.post(hook)
    const { webhookSecret } = (await ada.put(`${path}/settings`, { webhookSecret: null })).json
    const secrets = () => repository.hooks.map(({ secret }) => secret)
    expect(secrets()).toEqual([webhookSecret])
    const another = (await ada.post(`${path}/webhook-secret`)).json.webhookSecret
    expect(secrets()).toEqual([another])
    expect(another).not.toBe(webhookSecret)
  })

  test('goes with the project, which says so', async () => {
    const ada = testApp(env).logIn('ada@example.com')
    const { path, hook, repository } = await aProject(ada, kind)
    await ada.post(hook)
    const { json } = await ada.delete(path)
    expect(json.removed[0]).toEqual({ kind: 'webhook', name: 'team/app' })
    expect(repository.hooks).toEqual([])
  })
})

describe('registering', () => {
  test('takes the place of a webhook that somebody added by hand', async () => {
    const ada = testApp(env).logIn('ada@example.com')
    const { hook, secret, repository } = await aProject(ada, 'github')
    const url = `${davit}/webhooks/github`
    repository.hooks.push({ id: 1, url, secret: 'another', events: ['push'] })
    repository.hooks.push({ id: 2, url: 'https://ci.example.com', secret: 'x', events: ['push'] })
    expect((await ada.get(hook)).json).toMatchObject({ registered: true, own: false })
    await ada.post(hook)
    expect(repository.hooks).toMatchObject([{ id: 2 }, { url, secret }])
  })

  test.each(['github', 'gitea', 'gitlab'] as const)(
    'is one at %s for all projects of an owner on one repository',
    async (provider) => {
      const ada = testApp(env).logIn('ada@example.com')
      const first = await aProject(ada, provider, 'first')
      const second = await aProject(ada, provider, 'second')
      const secrets = () => first.repository.hooks.map(({ secret }) => secret)
      const state = async ({ hook }: typeof first) => (await ada.get(hook)).json
      await ada.post(first.hook)
      expect(await state(second)).toMatchObject({ registered: true, sharedWith: { name: 'first' } })
      expect((await ada.delete(second.hook)).status).toBe(409)
      expect(secrets()).toEqual([first.secret])

      await ada.post(second.hook)
      expect(secrets()).toEqual([second.secret])
      expect(await state(first)).toMatchObject({ registered: true, sharedWith: { name: 'second' } })

      await ada.delete(second.path)
      expect(secrets()).toEqual([first.secret])
      expect(await state(first)).toMatchObject({ registered: true, own: true, sharedWith: null })
    },
  )

  test('leaves that of someone else’s project on the same repository alone', async () => {
    const t = testApp(env)
    const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
    const first = await aProject(ada, 'gitea', 'first')
    const second = await aProject(bob, 'gitea', 'second')
    await ada.post(first.hook)
    expect((await bob.get(second.hook)).json).toMatchObject({ registered: false, sharedWith: null })
    await bob.post(second.hook)
    const secrets = () => first.repository.hooks.map(({ secret }) => secret)
    expect(secrets()).toEqual([first.secret, second.secret])
    await bob.delete(second.hook)
    expect(secrets()).toEqual([first.secret])

    const third = await aProject(ada, 'github', 'third')
    const fourth = await aProject(bob, 'github', 'fourth')
    await ada.post(third.hook)
    const refused = await bob.post(fourth.hook)
    expect(refused.status).toBe(409)
    expect(refused.json.detail).toContain('one for each address')
    expect(third.repository.hooks.map(({ secret }) => secret)).toEqual([third.secret])
  })

  test('needs a public address and a source, and says so', async () => {
    const ada = testApp().logIn('ada@example.com')
    const { hook } = await aProject(ada, 'github')
    github.requests.length = 0
    const nowhere = await ada.post(hook)
    expect(nowhere.status).toBe(409)
    expect(nowhere.json.detail).toContain('DAVIT_URL')
    expect((await ada.get(hook)).json).toMatchObject({ provider: 'github', url: null })
    expect(github.requests).toEqual([])

    const repositoryUrl = 'https://git.example.com/team/app.git'
    const { json: plain } = await ada.post('/projects', { name: 'plain', repositoryUrl })
    expect((await ada.post(`/projects/${plain.id}/webhook`)).status).toBe(409)
    expect((await ada.get(`/projects/${plain.id}/webhook`)).json.provider).toBeNull()
  })

  test('is written down, with the name of who did it', async () => {
    const { t, ada } = withAda(testApp(env))
    const { hook } = await aProject(ada, 'github')
    await ada.post(hook)
    await ada.delete(hook)
    const events = t.db.$client
      .query<{ action: string; actor: string }, []>('SELECT action, actor FROM audit_events')
      .all()
    for (const action of ['webhook.registered', 'webhook.removed'])
      expect(events).toContainEqual({ action, actor: 'ada@example.com' })
  })
})

describe('a provider that gives trouble', () => {
  test.each([
    ['down', 'an internal error'],
    ['html', notTheApi],
    ['broken json', notTheApi],
  ] as const)('(%s) is 502 in words, and changes nothing', async (mode, words) => {
    const ada = testApp(env).logIn('ada@example.com')
    const { path, hook, secret, repository } = await aProject(ada, 'gitea')
    await ada.post(hook)
    gitea.mode = mode
    for (const answer of [
      await ada.get(hook),
      await ada.post(hook),
      await ada.delete(hook),
      await ada.put(`${path}/settings`, { webhookSecret: null }),
    ]) {
      expect(answer.status).toBe(502)
      expect(answer.json.detail).toContain(words)
      expect(answer.text).not.toContain(token)
    }
    const panel = await ada.htmx('GET', hook)
    expect(panel.status).toBe(502)
    expect(panel.text).toContain('id="webhook-panel"')
    gitea.mode = 'answer'
    expect(repository.hooks.map((registered) => registered.secret)).toEqual([secret])
    expect((await ada.get(hook)).json.own).toBe(true)
  })

  test('that forgot the repository is no missing project', async () => {
    const ada = testApp(env).logIn('ada@example.com')
    const { hook } = await aProject(ada, 'github')
    github.repositories.length = 0
    expect((await ada.get(hook)).status).toBe(502)
    expect((await ada.post(hook)).status).toBe(502)
  })

  test('does not keep a project from being deleted', async () => {
    const ada = testApp(env).logIn('ada@example.com')
    const { path, hook } = await aProject(ada, 'gitea')
    await ada.post(hook)
    gitea.mode = 'down'
    const { status, json } = await ada.delete(path)
    expect(status).toBe(200)
    expect(json.removed).toEqual([{ kind: 'project', name: 'site' }])
  })
})

test('a project that goes to another repository takes its webhook along', async () => {
  const ada = testApp(env).logIn('ada@example.com')
  const { path, hook, repository } = await aProject(ada, 'github')
  await ada.post(hook)
  await ada.put(path, { name: 'still here' })
  expect(repository.hooks).toHaveLength(1)
  await ada.put(path, { repositoryUrl: 'https://git.example.com/team/other.git' })
  expect(repository.hooks).toEqual([])
})

describe('with the same repository a webhook stays,', () => {
  /** A project with a webhook, and what the provider has of that. */
  async function hooked(provider: ProviderName) {
    const ada = testApp(env).logIn('ada@example.com')
    const project = await aProject(ada, provider)
    await ada.post(project.hook)
    return { ada, ...project, before: [...project.repository.hooks] }
  }

  test('when its source is another one, whose token removes it with the project', async () => {
    const { ada, path, hook, repository, before } = await hooked('github')
    const first = (await ada.get('/settings/git')).json.items[0].id
    const sourceId = await addSource(ada, github, 'another')
    const moved = await ada.put(path, { sourceId, repository: 'team/app' })
    expect(moved.json).toMatchObject({ sourceId })
    expect(repository.hooks).toEqual(before)
    expect((await ada.get(hook)).json).toMatchObject({ registered: true, own: true })
    expect((await ada.delete(`/settings/git/${first}`)).status).toBe(200)
    const { json } = await ada.delete(path)
    expect(json.removed[0]).toEqual({ kind: 'webhook', name: 'team/app' })
    expect(repository.hooks).toEqual([])
  })

  test('when it has no source any more, which is said: no one removes it later', async () => {
    const { ada, path, repository, before } = await hooked('gitea')
    const saved = await ada.htmx('PUT', path, { source_id: '', repository: '' })
    expect(decodeURIComponent(saved.headers.get('X-Davit-Said')!)).toContain('webhook')
    expect(repository.hooks).toEqual(before)
    expect((await ada.post(`${path}/webhook-secret`)).status).toBe(200)
    expect((await ada.delete(path)).json.removed[0].kind).toBe('project')
    expect(repository.hooks).toEqual(before)
  })

  test('or is that of another project of the owner, if this one has no source any more', async () => {
    const { ada, path, repository } = await hooked('gitea')
    const second = await aProject(ada, 'gitea', 'second')
    const saved = await ada.htmx('PUT', path, { source_id: '', repository: '' })
    expect(decodeURIComponent(saved.headers.get('X-Davit-Said')!)).not.toContain('webhook')
    expect(repository.hooks.map(({ secret }) => secret)).toEqual([second.secret])
    expect((await ada.get(second.hook)).json).toMatchObject({ registered: true, own: true })
  })
})

test('the panel registers and removes for a person', async () => {
  const ada = testApp(env).logIn('ada@example.com')
  const { path, hook } = await aProject(ada, 'github')
  expect((await ada.page(`${path}/deliveries`)).text).toContain(`hx-get="${hook}"`)
  expect((await ada.htmx('GET', hook)).text).toContain('Register webhook')
  const registered = await ada.htmx('POST', hook)
  expect(registered.status).toBe(200)
  expect(registered.text).toContain('reports every push to Davit')
  expect((await ada.htmx('DELETE', hook)).text).toContain('Register webhook')
  expect((await ada.form(hook, {})).headers.get('Location')).toEndWith('/deliveries')
})
