import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { notTheApi } from '../../src/git/providers/refusals.ts'
import { commitFiles, makeRepository, startGitServer } from '../support/git-server.ts'
import { startProviderServer } from '../support/provider-server.ts'
import { testApp, withAda } from '../support/app.ts'
import { addSource, token } from './source.ts'

const server = startProviderServer('gitlab')
const dir = mkdtempSync(join(tmpdir(), 'davit-lookups-'))
const gitServer = startGitServer(dir)
const commit = commitFiles(makeRepository(dir, 'app.git'), { a: 'a' })
afterAll(() => {
  server.stop()
  gitServer.stop()
  rmSync(dir, { recursive: true, force: true })
})
beforeEach(() => {
  Object.assign(server, { mode: 'answer', perPage: 100 })
  server.repositories.length = 0
  server.requests.length = 0
  gitServer.mode = 'serve'
})

async function start(env: Record<string, string> = {}) {
  const { t, ada } = withAda(testApp(env))
  const id = await addSource(ada, server)
  server.requests.length = 0
  return { ...t, ada, id }
}

test('a private repository of a source is looked at with its token, by its owner alone', async () => {
  const served = startProviderServer('github', { repositories: dir })
  try {
    commitFiles(makeRepository(join(dir, 'team'), 'app.git'), {
      'web/package.json': '{"scripts": {"start": "node x"}}',
      'api/go.mod': 'module x',
      'api/main.go': '',
    })
    const { ada, logIn } = await start()
    const id = await addSource(ada, served, 'served')
    const look = `/api/git/look?source_id=${id}&repository=team/app`
    const { workspaces } = (await ada.get(look)).json
    expect(workspaces).toMatchObject([
      { directory: 'api', kind: 'Go' },
      { directory: 'web', kind: 'Node' },
    ])
    expect((await ada.get(`/api/git/look?source_id=${id}`)).status).toBe(422)
    const bob = logIn('bob@example.com')
    expect((await bob.get(look)).status).toBe(404)
  } finally {
    served.stop()
  }
})

describe('repositories', () => {
  test('are listed whole, by name, under both addresses', async () => {
    const { ada, id } = await start()
    server.perPage = 20
    server.fill(130)
    const { json } = await ada.get(`/api/git/repos?source_id=${id}`)
    expect(json.items).toHaveLength(130)
    expect(json.items[0]).toEqual({
      fullName: 'ada/app1',
      cloneUrl: `${server.baseUrl}/ada/app1.git`,
      defaultBranch: 'main',
      private: false,
    })
    expect(json).toMatchObject({ nextCursor: null })
    expect(json).not.toHaveProperty('truncated')
    expect((await ada.get(`/api/git/sources/${id}/repos`)).json).toEqual(json)
  })

  test('are found by a part of the name, whatever its case', async () => {
    const { ada, id } = await start()
    server.add({ fullName: 'team/Billing' })
    server.add({ fullName: 'team/shop' })
    const found = await ada.get(`/api/git/repos?source_id=${id}&search=bill`)
    expect(found.json.items.map((item: { fullName: string }) => item.fullName)).toEqual([
      'team/Billing',
    ])
    expect((await ada.get(`/api/git/sources/${id}/repos?search=none`)).json.items).toEqual([])
  })

  test('are asked of the provider once within 30 seconds, whatever is searched for', async () => {
    const { ada, id } = await start()
    server.fill(3)
    for (const search of ['', 'app1', 'app2']) {
      await ada.get(`/api/git/repos?source_id=${id}&search=${search}`)
    }
    expect(server.requests).toHaveLength(1)
  })

  test('come as rows to choose from, that fill the branches', async () => {
    const { ada, id } = await start()
    server.add({ fullName: 'team/tools/"><b>', private: true })
    server.fill(150)
    const { text } = await ada.htmx('GET', `/api/git/repos?source_id=${id}`)
    expect(text.match(/type="radio"/g)).toHaveLength(100)
    expect(text).toContain('And 51 more')
    const shown = await ada.htmx('GET', `/api/git/repos?source_id=${id}&search=tools`)
    expect(shown.text).not.toContain('<b>')
    expect(shown.text).toContain('private')
    expect(shown.text).toContain('hx-target="#field-branch"')
    expect(shown.text).not.toContain('<html')
    expect((await ada.page(`/api/git/repos?source_id=${id}`)).text).toContain('<html')
  })

  test('of someone else’s source do not exist, and no one is asked', async () => {
    const t = await start()
    server.add({ fullName: 'ada/app' })
    const bob = t.logIn('bob@example.com')
    for (const path of [
      `/api/git/repos?source_id=${t.id}`,
      `/api/git/branches?source_id=${t.id}&repository=ada/app`,
      `/api/git/sources/${t.id}/repos`,
      `/api/git/sources/${t.id}/repos/ada/app/branches`,
      `/api/git/sources/${t.id}/repos/ada/app/tags`,
    ]) {
      const foreign = await bob.get(path)
      const missing = await bob.get(path.replace(t.id, Bun.randomUUIDv7()))
      expect([foreign.status, foreign.json.detail]).toEqual([404, missing.json.detail])
    }
    expect(server.requests).toEqual([])
  })
})

describe('branches and tags', () => {
  const refs = [
    { name: 'main', commit: 'a'.repeat(40) },
    { name: 'feature/<i>', commit: 'b'.repeat(40) },
  ]

  test('of a source are listed with their commits', async () => {
    const { ada, id } = await start()
    server.add({ fullName: 'ada/app', branches: refs, tags: refs.slice(1) })
    const branches = await ada.get(`/api/git/branches?source_id=${id}&repository=ada/app`)
    expect(branches.json).toEqual({ items: refs, nextCursor: null, defaultBranch: 'main' })
    const apart = await ada.get(`/api/git/branches?source_id=${id}&owner=ada&repo=app`)
    expect(apart.json).toEqual(branches.json)
    const path = `/api/git/sources/${id}/repos/ada/app`
    expect((await ada.get(`${path}/branches`)).json).toEqual(branches.json)
    expect((await ada.get(`${path}/tags`)).json.items).toEqual(refs.slice(1))
  })

  test('of a project in groups within groups are found by its path', async () => {
    const { ada, id } = await start()
    server.add({ fullName: 'team/tools/app', branches: refs })
    const found = await ada.get(`/api/git/sources/${id}/repos/team%2Ftools/app/branches`)
    expect(found.json.items).toEqual(refs)
  })

  test('come as options of a select', async () => {
    const { ada, id } = await start()
    server.add({ fullName: 'ada/app', branches: refs, tags: refs })
    const path = `/api/git/sources/${id}/repos/ada/app`
    const { text } = await ada.htmx('GET', `${path}/branches`)
    expect(text).toBe(
      '<option value="">the default (main)</option><option value="main">main</option>' +
        '<option value="feature/&lt;i&gt;">feature/&lt;i&gt;</option>',
    )
    expect((await ada.htmx('GET', `${path}/tags`)).text).toStartWith('<option value="main">')
  })

  test('of a missing repository are explained', async () => {
    const { ada, id } = await start()
    const missing = await ada.get(`/api/git/branches?source_id=${id}&repository=ada/none`)
    expect(missing.status).toBe(404)
    expect(missing.json.detail).toContain('ada/none')
    expect((await ada.get(`/api/git/sources/${id}/repos/../x/branches`)).status).toBe(404)
  })

  test.each(['app', '../x', 'a/..', 'a/b?x', 'a//b', '-', 'a/b%00'])(
    'of %p are not asked for',
    async (repository) => {
      const { ada, id } = await start()
      const query = new URLSearchParams({ source_id: id, repository })
      expect((await ada.get(`/api/git/branches?${query}`)).status).toBe(422)
      expect(server.requests).toEqual([])
    },
  )

  test.each(['owner=ada', 'repo=app', 'owner=..&repo=app', 'owner=ada&repo=a?b'])(
    'of %p are not asked for either',
    async (names) => {
      const { ada, id } = await start()
      const refused = await ada.get(`/api/git/branches?source_id=${id}&${names}`)
      expect(refused.json.errors[0].field).toBe('repository')
      expect(server.requests).toEqual([])
    },
  )
})

describe('a provider that', () => {
  test.each([
    ['down', 502, 'an internal error'],
    ['limit', 429, 'until'],
    ['html', 502, notTheApi],
  ] as const)('is %s is answered with %i in words', async (mode, status, words) => {
    const { ada, id } = await start()
    server.mode = mode
    const answer = await ada.get(`/api/git/repos?source_id=${id}`)
    expect(answer.status).toBe(status)
    expect(answer.json.detail).toContain(words)
    expect(answer.text).not.toContain(token)
    server.mode = 'answer'
    expect((await ada.get(`/api/git/repos?source_id=${id}`)).status).toBe(200)
  })

  test('no longer takes the token, or lets it list, is answered with 502', async () => {
    const { ada, id } = await start()
    server.tokens.set(token, { login: 'ada', id: 1, scopes: ['read_user'] })
    const weak = await ada.get(`/api/git/repos?source_id=${id}`)
    expect(weak.status).toBe(502)
    expect(weak.json.detail).toContain('api or read_api')
    server.tokens.clear()
    const revoked = await ada.get(`/api/git/repos?source_id=${id}`)
    expect([revoked.status, revoked.json.title]).toEqual([502, 'Another server failed'])
  })
})

describe('branches of an address', () => {
  test('are read with git, once within 30 seconds', async () => {
    const { ada } = await start()
    const query = new URLSearchParams({ repository_url: `${gitServer.url}app.git` })
    const { json } = await ada.get(`/api/git/branches?${query}`)
    expect(json).toEqual({
      items: [{ name: 'main', commit }],
      nextCursor: null,
      defaultBranch: 'main',
    })
    const before = gitServer.requests.length
    await ada.get(`/api/git/branches?${query}`)
    expect(gitServer.requests.length).toBe(before)
  })

  test.each(['http://127.0.0.1:1/x', 'ext::sh -c id', '--upload-pack=x', 'file:///etc', ''])(
    'such as %p are refused at the field',
    async (url) => {
      const { ada } = await start({ DAVIT_ALLOW_LOCAL_REPOS: '0' })
      const closed = testApp({ DAVIT_ALLOW_HOSTS: '', DAVIT_ALLOW_LOCAL_REPOS: '0' })
      const bob = closed.logIn('bob@example.com')
      const query = new URLSearchParams({ repository_url: url })
      expect((await bob.get(`/api/git/branches?${query}`)).status).toBe(422)
      if (!url.startsWith('http:'))
        expect((await ada.get(`/api/git/branches?${query}`)).status).toBe(422)
    },
  )

  test('that is private, missing or silent are explained', async () => {
    const { ada } = await start()
    const ask = (url: string) =>
      ada.get(`/api/git/branches?${new URLSearchParams({ repository_url: url })}`)
    expect((await ask(`${gitServer.url}none.git`)).status).toBe(404)
    gitServer.mode = 'unauthorized'
    expect((await ask(`${gitServer.url}app.git`)).status).toBe(404)
    const down = await ask('http://127.0.0.1:1/app.git')
    expect(down.status).toBe(502)
  })
})

test('what is missing in the query is named', async () => {
  const { ada, id } = await start()
  expect((await ada.get('/api/git/repos')).json.detail).toContain('source_id')
  expect((await ada.get('/api/git/branches')).json.detail).toContain('repository_url')
  const noRepository = await ada.get(`/api/git/branches?source_id=${id}`)
  expect(noRepository.json.detail).toContain('owner/name')
})
