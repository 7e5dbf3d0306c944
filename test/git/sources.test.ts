import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { gitSources, projects } from '../../src/db/schema.ts'
import { openSourceToken } from '../../src/git/store.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { testApp, withAda } from '../support/app.ts'
import { addSource, token } from './source.ts'

const github = startProviderServer('github')
const gitlab = startProviderServer('gitlab')
const gitea = startProviderServer('gitea')
const servers = { github, gitlab, gitea }
afterAll(() => Object.values(servers).forEach((server) => server.stop()))
beforeEach(() => {
  for (const server of Object.values(servers)) {
    server.tokens.clear()
    server.requests.length = 0
    server.mode = 'answer'
  }
})

const wanted = { provider: 'github', name: 'work', baseUrl: github.baseUrl, accessToken: token }

describe.each(['github', 'gitlab', 'gitea'] as const)('a source at %s', (kind) => {
  test('is added when its token has the rights, and shows whose it is', async () => {
    const ada = testApp().logIn('ada@example.com')
    const id = await addSource(ada, servers[kind])
    const { json } = await ada.get(`/settings/git/${id}`)
    expect(json).toMatchObject({ id, provider: kind, name: 'work', login: 'ada', missing: [] })
    expect(json.baseUrl).toBe(servers[kind].baseUrl)
  })
})

describe('adding a source', () => {
  test('responds in the three forms of clients', async () => {
    const { ada } = withAda(testApp())
    github.tokens.set(token, { login: 'ada', id: 1, scopes: ['repo', 'gist'] })
    const made = await ada.post('/settings/git', wanted)
    expect(made.status).toBe(201)
    expect(made.headers.get('Location')).toBe(`/settings/git/${made.json.id}`)
    expect(Object.keys(made.json).sort()).toEqual(
      ['baseUrl', 'createdAt', 'id', 'login', 'missing', 'name', 'provider', 'rights'].sort(),
    )

    const form = { provider: 'github', base_url: github.baseUrl, access_token: token }
    const page = await ada.form('/settings/git', { ...form, name: 'page' })
    expect(page.status).toBe(303)
    expect((await ada.page(page.headers.get('Location')!)).text).toContain('It belongs to')

    const partial = await ada.htmx('POST', '/settings/git', { ...form, name: 'partial' })
    expect(partial.status).toBe(200)
    for (const text of ['It belongs to', 'gist', 'hx-swap-oob', 'page', 'partial']) {
      expect(partial.text).toContain(text)
    }
    expect(partial.text).not.toContain('<html')
  })

  test('with a weak token is refused with the names of the rights', async () => {
    const ada = testApp().logIn('ada@example.com')
    github.tokens.set(token, { login: 'ada', id: 1, scopes: ['public_repo'] })
    const refused = await ada.post('/settings/git', wanted)
    expect(refused.status).toBe(422)
    expect(refused.json.errors).toEqual([
      {
        field: 'accessToken',
        message: 'The token of ada lacks the scope repo. Create one at GitHub that has it.',
      },
    ])
    gitea.tokens.set(token, { login: 'ada', id: 1, scopes: ['read:issue'] })
    const gitForm = { ...wanted, provider: 'gitea', baseUrl: gitea.baseUrl }
    expect((await ada.post('/settings/git', gitForm)).text).toContain(
      'read:user and read:repository',
    )
    expect((await ada.get('/settings/git')).json.items).toEqual([])
  })

  test('with an unknown token draws the form again, without the token', async () => {
    const ada = testApp().logIn('ada@example.com')
    const form = { provider: 'github', name: 'work', base_url: github.baseUrl, access_token: token }
    const again = await ada.htmx('POST', '/settings/git', form)
    expect(again.status).toBe(422)
    expect(again.text).toContain('refused the token')
    expect(again.text).toContain(github.baseUrl)
    expect(again.text).not.toContain(token)
  })

  test('keeps the token sealed, and shows it nowhere', async () => {
    const { t, ada } = withAda(testApp())
    const id = await addSource(ada, github)
    const row = t.db.select().from(gitSources).get()!
    expect(JSON.stringify(row)).not.toContain(token)
    expect(t.secrets.open(row.accessToken, `source ${id}`)).toBe(token)
    expect(() => t.secrets.open(row.accessToken, 'source other')).toThrow()
    for (const answer of [
      await ada.page('/settings/git'),
      await ada.get('/settings/git'),
      await ada.page(`/settings/git/${id}`),
      await ada.get('/settings/audit'),
    ]) {
      expect(answer.text).not.toContain(token)
      expect(answer.text).not.toContain(row.accessToken)
    }
  })

  test.each([
    ['127.0.0.1', 'DAVIT_ALLOW_HOSTS'],
    ['localhost', 'DAVIT_ALLOW_HOSTS'],
    ['2130706433', 'DAVIT_ALLOW_HOSTS'],
    ['0x7f000001', 'DAVIT_ALLOW_HOSTS'],
    ['0177.0.0.1', 'DAVIT_ALLOW_HOSTS'],
    ['[::ffff:127.0.0.1]', 'DAVIT_ALLOW_HOSTS'],
    ['metadata.google.internal', 'DAVIT_ALLOW_HOSTS'],
    ['ex.invalid\\@127.0.0.1', 'must be an address'],
    ['user:secret@git.example.com', 'can’t have a user'],
    ['-oProxyCommand=x', 'must be an address'],
  ])('at http://%s is refused before anyone is asked', async (host, why) => {
    const ada = testApp({ DAVIT_ALLOW_HOSTS: '' }).logIn('ada@example.com')
    const { port } = new URL(github.baseUrl)
    const refused = await ada.post('/settings/git', {
      ...wanted,
      baseUrl: `http://${host}:${port}`,
    })
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0].field).toBe('baseUrl')
    expect(refused.json.errors[0].message).toContain(why)
    expect(github.requests).toEqual([])
  })

  test.each(['ftp://git.example.com', 'file:///etc', 'javascript:alert(1)', 'git.example.com'])(
    'at %s is refused',
    async (baseUrl) => {
      const ada = testApp().logIn('ada@example.com')
      const refused = await ada.post('/settings/git', { ...wanted, baseUrl })
      expect(refused.status).toBe(422)
      expect(refused.json.errors[0].field).toBe('baseUrl')
    },
  )

  test('needs an address for Gitea, and knows the others’', async () => {
    const ada = testApp({ DAVIT_ALLOW_HOSTS: '' }).logIn('ada@example.com')
    const refused = await ada.post('/settings/git', { ...wanted, provider: 'gitea', baseUrl: null })
    expect(refused.json.errors[0].field).toBe('baseUrl')
  })

  test('at what is no such provider says so at the address', async () => {
    const ada = testApp().logIn('ada@example.com')
    github.mode = 'html'
    const refused = await ada.post('/settings/git', wanted)
    expect(refused.status).toBe(422)
    expect(refused.json.errors[0]).toMatchObject({ field: 'baseUrl' })
    expect(refused.text).not.toContain('10.0.0.7')
  })

  test('while the provider is down is no fault of what was typed', async () => {
    const ada = testApp().logIn('ada@example.com')
    github.mode = 'down'
    expect(await ada.post('/settings/git', wanted)).toMatchObject({
      status: 502,
      json: { errors: [{ field: 'baseUrl' }] },
    })
    const form = { provider: 'github', name: 'work', base_url: github.baseUrl, access_token: token }
    const again = await ada.htmx('POST', '/settings/git', form)
    expect(again.status).toBe(502)
    expect(again.text).toMatch(/id="field-base_url"[^>]* aria-invalid="true"/)
    expect(again.text).toContain(`value="${github.baseUrl}"`)
    expect(again.text).not.toContain(token)
    github.mode = 'limit'
    const limited = await ada.post('/settings/git', wanted)
    expect(limited.status).toBe(429)
    expect(Number(limited.headers.get('Retry-After'))).toBeGreaterThan(500)
  })

  test('under a name that is taken is refused, but not under another user’s', async () => {
    const { t, ada } = withAda(testApp())
    await addSource(ada, github)
    expect((await ada.post('/settings/git', wanted)).status).toBe(409)
    expect(await addSource(t.logIn('bob@example.com'), github)).toBeString()
  })

  test('takes a path after the host, without the slash at its end', async () => {
    const ada = testApp().logIn('ada@example.com')
    await addSource(ada, github)
    const baseUrl = `${github.baseUrl}/`
    const made = await ada.post('/settings/git', { ...wanted, name: 'slash', baseUrl })
    expect(made.json.baseUrl).toBe(github.baseUrl)
  })
})

describe('a source', () => {
  test('of someone else does not exist', async () => {
    const t = testApp()
    const id = await addSource(t.logIn('ada@example.com'), github)
    const bob = t.logIn('bob@example.com')
    github.requests.length = 0
    const missing = await bob.get(`/settings/git/${Bun.randomUUIDv7()}`)
    const foreign = await bob.get(`/settings/git/${id}`)
    expect(foreign.status).toBe(404)
    expect(foreign.json.detail).toBe(missing.json.detail)
    expect((await bob.delete(`/settings/git/${id}`)).status).toBe(404)
    expect((await bob.get('/settings/git')).json.items).toEqual([])
    expect(github.requests).toEqual([])
  })

  test('whose token was revoked says so when it is checked', async () => {
    const ada = testApp().logIn('ada@example.com')
    const id = await addSource(ada, github)
    github.tokens.clear()
    const checked = await ada.get(`/settings/git/${id}`)
    expect(checked.status).toBe(502)
    expect(checked.json.detail).toContain('refused the token')
  })

  test('whose token can’t be opened any more says what to do', async () => {
    const { t, ada } = withAda(testApp())
    const id = await addSource(ada, github)
    t.db
      .update(gitSources)
      .set({ accessToken: 'x'.repeat(60) })
      .run()
    expect(() => openSourceToken(t.db, t.secrets, id)).toThrow('can no longer be read')
    expect((await ada.get(`/settings/git/${id}`)).json.detail).toContain('Enter it again')
  })

  test('gets another token in place, which is checked first', async () => {
    const { t, ada } = withAda(testApp())
    const id = await addSource(ada, github)
    const path = `/settings/git/${id}`
    expect((await ada.put(path, { accessToken: 'unknown' })).json.errors).toMatchObject([
      { field: 'accessToken' },
    ])
    expect(openSourceToken(t.db, t.secrets, id)).toBe(token)
    github.tokens.set('tok_next', { login: 'eve', id: 43, scopes: ['repo'] })
    const changed = await ada.put(path, { accessToken: 'tok_next' })
    expect(changed.json).toMatchObject({ id, login: 'eve', name: 'work' })
    expect(openSourceToken(t.db, t.secrets, id)).toBe('tok_next')
  })

  test('keeps its token under another name, but not at another address', async () => {
    const { t, ada } = withAda(testApp())
    const id = await addSource(ada, github)
    const path = `/settings/git/${id}`
    const renamed = await ada.htmx('PUT', path, { name: 'renamed', access_token: '' })
    expect(renamed.headers.get('HX-Redirect')).toBe('/settings/git')
    expect(openSourceToken(t.db, t.secrets, id)).toBe(token)
    gitea.requests.length = 0
    const moved = await ada.put(path, { provider: 'gitea', baseUrl: gitea.baseUrl })
    expect(moved.json.errors).toMatchObject([{ field: 'accessToken' }])
    expect(gitea.requests).toEqual([])
  })

  test('that nothing uses goes at once', async () => {
    const ada = testApp().logIn('ada@example.com')
    const id = await addSource(ada, github)
    const gone = await ada.htmx('DELETE', `/settings/git/${id}`)
    expect(gone.headers.get('HX-Redirect')).toBe('/settings/git')
    expect((await ada.get('/settings/git')).json.items).toEqual([])
  })

  test.each(['confirm=1', 'force=1'])('that projects use goes only with %s', async (word) => {
    const { t, ada } = withAda(testApp())
    const id = await addSource(ada, github)
    const made = await ada.post('/projects', {
      name: 'Shop <b>',
      repositoryUrl: `${github.baseUrl}/ada/shop.git`,
    })
    t.db.update(projects).set({ sourceId: id, repository: 'ada/shop', webhookId: '7' }).run()

    const refused = await ada.delete(`/settings/git/${id}`)
    expect(refused.status).toBe(409)
    expect(refused.json.detail).toContain('Shop <b>')
    const asked = await ada.htmx('DELETE', `/settings/git/${id}`)
    expect(asked.status).toBe(409)
    expect(asked.text).toContain('Shop &lt;b&gt;')
    expect(asked.text).toContain(`action="/settings/git/${id}?confirm=1"`)
    expect((await ada.get('/settings/git')).json.items).toHaveLength(1)

    expect((await ada.delete(`/settings/git/${id}?${word}`)).status).toBe(200)
    const project = t.db.select().from(projects).get()!
    expect(project).toMatchObject({ id: made.json.id, sourceId: null, repository: null })
    expect(project.repositoryUrl).toBe(`${github.baseUrl}/ada/shop.git`)
    expect((await ada.get('/settings/git')).json.items).toEqual([])
  })
})
