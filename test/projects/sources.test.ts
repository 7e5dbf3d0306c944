import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { addSource, token } from '../git/source.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { contentsOf } from '../support/refusals.ts'

const servers = {
  github: startProviderServer('github'),
  gitlab: startProviderServer('gitlab'),
  gitea: startProviderServer('gitea'),
}
const { github } = servers
afterAll(() => Object.values(servers).forEach((server) => server.stop()))
beforeEach(() => {
  for (const server of Object.values(servers)) server.requests.length = 0
})

const fieldsOf = ({ json }: { json: { errors: { field: string }[] } }) =>
  json.errors.map(({ field }) => field)

describe.each(['github', 'gitlab', 'gitea'] as const)('a project from a source at %s', (kind) => {
  test('has the clone address of the repository, and asks no one', async () => {
    const ada = testApp().logIn('ada@example.com')
    const sourceId = await addSource(ada, servers[kind])
    servers[kind].requests.length = 0
    const repository = kind === 'gitlab' ? 'team/sub/app' : 'team/app'
    const made = await ada.post('/projects', { name: 'app', sourceId, repository })
    expect(made.status).toBe(201)
    expect(made.json).toMatchObject({
      sourceId,
      repository,
      repositoryUrl: `${servers[kind].baseUrl}/${repository}.git`,
      deployKey: null,
    })
    expect(servers[kind].requests).toEqual([])
  })
})

describe('a source and a repository', () => {
  test('go together, and not with an address', async () => {
    const ada = testApp().logIn('ada@example.com')
    const sourceId = await addSource(ada, github)
    const repositoryUrl = 'https://git.example.com/team/app.git'
    for (const [origin, field] of [
      [{ sourceId }, 'repository'],
      [{ repository: 'team/app' }, 'sourceId'],
      [{ sourceId: null, repository: 'team/app' }, 'sourceId'],
      [{ sourceId, repository: 'team/app', repositoryUrl }, 'repositoryUrl'],
      [{ sourceId: null, repository: null }, 'repositoryUrl'],
    ] as const) {
      const answer = await ada.post('/projects', { name: 'app', ...origin })
      expect(answer.status, JSON.stringify(origin)).toBe(422)
      expect(fieldsOf(answer), JSON.stringify(origin)).toContain(field)
    }
    expect((await ada.get('/projects')).json.items).toEqual([])
  })

  test('of someone else is refused like one that does not exist, without asking anybody', async () => {
    const t = testApp()
    const foreign = await addSource(t.logIn('ada@example.com'), github)
    const bob = t.logIn('bob@example.com')
    const { json: project } = await bob.post('/projects', {
      name: 'mine',
      repositoryUrl: 'https://git.example.com/team/app.git',
    })
    github.requests.length = 0
    const before = contentsOf(t)
    for (const ask of [
      (origin: object) => bob.post('/projects', { name: 'app', ...origin }),
      (origin: object) => bob.put(`/projects/${project.id}`, { ...origin }),
    ]) {
      const answers = []
      for (const sourceId of [foreign, Bun.randomUUIDv7(), "' OR 1=1", '../x', 'x'.repeat(100)]) {
        const { status, json } = await ask({ sourceId, repository: 'ada/private' })
        answers.push({ status, detail: json.detail, errors: json.errors })
      }
      expect(answers[0]).toMatchObject({ status: 422, errors: [{ field: 'sourceId' }] })
      for (const answer of answers) expect(answer).toEqual(answers[0]!)
    }
    expect(github.requests).toEqual([])
    expect(contentsOf(t)).toEqual(before)
  })

  test('are dropped by an address alone, or by null', async () => {
    const ada = testApp().logIn('ada@example.com')
    const sourceId = await addSource(ada, github)
    const origin = { sourceId, repository: 'team/app' }
    const { json: project } = await ada.post('/projects', { name: 'app', ...origin })
    const path = `/projects/${project.id}`
    const url = 'https://git.example.com/team/other.git'
    expect((await ada.put(path, { name: 'renamed' })).json).toMatchObject(origin)
    expect((await ada.put(path, { repositoryUrl: url })).json).toMatchObject({
      sourceId: null,
      repository: null,
      repositoryUrl: url,
    })
    expect((await ada.put(path, origin)).json).toMatchObject({
      ...origin,
      repositoryUrl: project.repositoryUrl,
    })
    expect((await ada.put(path, { sourceId: null })).json).toMatchObject({
      sourceId: null,
      repository: null,
      repositoryUrl: project.repositoryUrl,
    })
  })

  test('keep a deployment from another repository', async () => {
    const ada = testApp().logIn('ada@example.com')
    const sourceId = await addSource(ada, github)
    const { json: project } = await ada.post('/projects', {
      name: 'app',
      sourceId,
      repository: 'team/app',
    })
    const path = `/projects/${project.id}/deployments`
    for (const repositoryUrl of [
      `${github.baseUrl}/team/other.git`,
      'https://git.example.com/x/y',
    ]) {
      const answer = await ada.post(path, { repositoryUrl })
      expect(answer.status).toBe(422)
      expect(fieldsOf(answer)).toEqual(['repositoryUrl'])
    }
    expect((await ada.get(path)).json.items).toEqual([])
  })
})

test('a project takes what it shows, and null for what it has not, but must have one source', async () => {
  const ada = simulatedApp().logIn('ada@example.com')
  const [image, repositoryUrl] = ['nginx:1.29', 'https://git.example.com/team/app.git']
  for (const [name, own, other] of [
    ['built', { repositoryUrl, image: null }, { repositoryUrl: null, image }],
    ['pulled', { repositoryUrl: null, image }, { repositoryUrl, image: null }],
  ] as const) {
    const { json: made } = await ada.post('/projects', { name, ...own })
    const path = `/projects/${made.id}`
    const shown = (await ada.get(path)).json
    expect(await ada.put(path, shown)).toMatchObject({ status: 200, json: shown })
    for (const field of ['image', 'repositoryUrl'] as const) {
      const without = await ada.put(path, { [field]: null })
      expect([field, without.status]).toEqual([field, own[field] ? 422 : 200])
      if (own[field]) expect(fieldsOf(without)).toEqual([field])
    }
    const none = { image: null, repositoryUrl: null, sourceId: null, repository: null }
    expect((await ada.put(path, none)).status).toBe(422)
    expect((await ada.get(path)).json).toEqual(shown)
    expect(await ada.put(path, other)).toMatchObject({ status: 200, json: other })
  }
})

test('a project from a git source takes what it shows, also with another repository, but no other address', async () => {
  const ada = simulatedApp().logIn('ada@example.com')
  const sourceId = await addSource(ada, github)
  const origin = { sourceId, repository: 'team/app' }
  const { json: made } = await ada.post('/projects', { name: 'app', ...origin })
  const path = `/projects/${made.id}`
  const shown = (await ada.get(path)).json
  expect(await ada.put(path, shown)).toMatchObject({ status: 200, json: shown })
  const moved = await ada.put(path, { ...shown, repository: 'team/b' })
  const repositoryUrl = `${github.baseUrl}/team/b.git`
  expect(moved).toMatchObject({
    status: 200,
    json: { sourceId, repository: 'team/b', repositoryUrl },
  })
  const refused = await ada.put(path, shown)
  expect([refused.status, fieldsOf(refused)]).toEqual([422, ['repositoryUrl']])
  expect((await ada.get(path)).json).toMatchObject({ repository: 'team/b', repositoryUrl })
})

describe('the page of a new project', () => {
  test('offers the sources, and keeps what was chosen after a refusal', async () => {
    const ada = testApp().logIn('ada@example.com')
    const sourceId = await addSource(ada, github, 'work <b>')
    const { text } = await ada.page('/projects/new')
    expect(text).toContain('hx-get="/api/git/repos"')
    expect(text).toContain('work &lt;b&gt; (ada)')
    const again = await ada.form('/projects', {
      source_id: sourceId,
      repository: 'team/app',
      name: 'n'.repeat(61),
      branch: 'release/1',
    })
    expect(again.status).toBe(422)
    expect(again.text).toContain('id="field-name-error"')
    expect(again.text).toMatch(/value="team\/app" checked/)
    expect(again.text).toMatch(/<option value="release\/1" selected/)
    expect(again.text).toContain('n'.repeat(61))
    expect((await ada.page('/projects/new?from=address')).text).toContain('name="repository_url"')
  })

  test('takes the name of the repository where none is typed, and an address without a scheme', async () => {
    const ada = testApp().logIn('ada@example.com')
    const fields = { name: '', repository_url: 'git.example.com/team/billing.git' }
    const { headers } = await ada.form('/projects', fields)
    const { json } = await ada.get(headers.get('Location')!)
    expect([json.name, json.repositoryUrl]).toEqual([
      'billing',
      'https://git.example.com/team/billing.git',
    ])
    const repositoryUrl = 'https://git.example.com/team/other.git'
    expect((await ada.post('/projects', { repositoryUrl })).status).toBe(422)
    expect((await ada.post('/projects', { name: '', repositoryUrl })).status).toBe(422)
  })

  test('leads to the settings where there is no source, and asks for an address', async () => {
    const ada = testApp().logIn('ada@example.com')
    expect((await ada.page('/projects/new')).text).toContain('name="repository_url"')
    expect((await ada.page('/projects/new?from=source')).text).toContain('href="/settings/git"')
  })

  test('shows only the sources of who looks', async () => {
    const t = testApp()
    await addSource(t.logIn('ada@example.com'), github, 'of ada')
    expect((await t.logIn('bob@example.com').page('/projects/new?from=source')).text).not.toContain(
      'of ada',
    )
  })

  test('makes a project by form, and the settings change its source', async () => {
    const ada = testApp().logIn('ada@example.com')
    const source_id = await addSource(ada, github)
    const made = await ada.form('/projects', { source_id, repository: 'team/app', name: 'app' })
    expect(made.status).toBe(303)
    const path = made.headers.get('Location')!
    const page = await ada.page(`${path}/settings`)
    expect(page.text).toMatch(/value="team\/app" checked/)
    const changed = await ada.htmx('PUT', path, { source_id, repository: 'team/b', name: 'app' })
    expect(changed.text).toMatch(/value="team\/b" checked/)
    expect(changed.headers.get('X-Davit-Said')).toBe('Project%20saved.')
    expect((await ada.get(path)).json.repository).toBe('team/b')
  })
})

describe('a deploy key', () => {
  const sshUrl = 'git@git.example.com:team/app.git'

  test('is made for an ssh address, its private half sealed and never shown', async () => {
    const { t, ada } = withAda(testApp())
    const made = await ada.post('/projects', { name: 'app', repositoryUrl: sshUrl })
    expect(made.json.deployKey).toMatch(/^ssh-ed25519 \S+ davit$/)
    expect(made.text).not.toContain('PRIVATE')
    const stored = JSON.stringify(contentsOf(t))
    expect(stored).toContain('deploy_key_private')
    expect(stored).not.toContain('OPENSSH PRIVATE')
    const page = await ada.page(`/projects/${made.json.id}/settings`)
    expect(page.text).toContain(made.json.deployKey)
    expect(page.text).not.toContain('PRIVATE')
  })

  test('is made once, when the address first needs one', async () => {
    const ada = testApp().logIn('ada@example.com')
    const repositoryUrl = 'https://git.example.com/team/app.git'
    const { json: project } = await ada.post('/projects', { name: 'app', repositoryUrl })
    expect(project.deployKey).toBeNull()
    const path = `/projects/${project.id}`
    const { deployKey } = (await ada.put(path, { repositoryUrl: sshUrl })).json
    expect(deployKey).toStartWith('ssh-ed25519 ')
    await ada.put(path, { repositoryUrl })
    expect((await ada.put(path, { repositoryUrl: sshUrl })).json.deployKey).toBe(deployKey)
  })

  test('is shown right after the project was made, before anything is deployed', async () => {
    const ada = testApp().logIn('ada@example.com')
    const fields = { name: 'app', repository_url: sshUrl, deploy: '1' }
    const made = await ada.form('/projects', fields)
    expect(made.headers.get('Location')).toEndWith('/settings#deploy-key')
    const id = made.headers.get('Location')!.split('/')[2]
    expect((await ada.get(`/projects/${id}/deployments`)).json.items).toEqual([])
  })
})

test('a token of a source is in no answer and no page of its project', async () => {
  const ada = testApp().logIn('ada@example.com')
  const sourceId = await addSource(ada, github)
  const origin = { sourceId, repository: 'team/app' }
  const { json: project } = await ada.post('/projects', { name: 'app', ...origin })
  for (const path of ['', '/settings', '/deployments', '/envs', '/deliveries'])
    for (const answer of [
      await ada.get(`/projects/${project.id}${path}`),
      await ada.page(`/projects/${project.id}${path}`),
    ])
      expect(answer.text).not.toContain(token)
})
