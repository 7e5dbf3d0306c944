import { afterAll, describe, expect, test } from 'bun:test'
import { providers, type ProviderName } from '../../../src/git/providers/registry.ts'
import { type FakeToken, startProviderServer } from '../../support/provider-server.ts'

const servers = {
  github: startProviderServer('github'),
  gitlab: startProviderServer('gitlab'),
  gitea: startProviderServer('gitea'),
}
for (const server of Object.values(servers)) server.add({ fullName: 'ada/app' })
afterAll(() => Object.values(servers).forEach((server) => server.stop()))

function whoIs(kind: ProviderName, token: Partial<FakeToken>) {
  servers[kind].tokens.set('token', { login: 'ada', id: 1, scopes: [], ...token })
  return providers[kind].whoIs({
    baseUrl: servers[kind].baseUrl,
    token: 'token',
    allow: ['127.0.0.1'],
    signal: new AbortController().signal,
  })
}

describe('a classic token of GitHub', () => {
  test.each([
    [['repo', 'gist'], []],
    [['public_repo', 'read:user'], ['repo']],
    [[], ['repo']],
  ])('with %p misses %p', async (scopes, missing) => {
    expect(await whoIs('github', { scopes })).toEqual({
      login: 'ada',
      rights: scopes,
      missing,
    })
  })
})

describe('a fine-grained token of GitHub', () => {
  test.each([
    [['metadata', 'contents'], []],
    [['metadata'], ['Contents: read']],
    [[], ['Metadata: read']],
  ])('with %p misses %p', async (scopes, missing) => {
    const owner = await whoIs('github', { scopes, fineGrained: true })
    expect(owner).toEqual({ login: 'ada', rights: null, missing })
  })

  test('is fine with an empty repository, and with none', async () => {
    const server = servers.github
    const kept = server.repositories.splice(0)
    const token = { scopes: ['metadata', 'contents'], fineGrained: true }
    expect((await whoIs('github', token)).missing).toEqual([])
    server.add({ fullName: 'ada/empty', branches: [] })
    expect((await whoIs('github', token)).missing).toEqual([])
    server.repositories.splice(0, 1, ...kept)
  })
})

describe('a token of GitLab', () => {
  test.each([
    [['api'], []],
    [['read_api', 'read_repository'], []],
    [['read_api'], ['read_repository']],
  ])('with %p misses %p', async (scopes, missing) => {
    expect(await whoIs('gitlab', { scopes })).toMatchObject({
      login: 'ada',
      rights: scopes,
      missing,
    })
  })

  test('that may not even see itself misses the right to the API', async () => {
    const owner = { login: null, rights: null, missing: ['api'] }
    expect(await whoIs('gitlab', { scopes: ['read_repository'] })).toEqual(owner)
  })
})

describe('a token of Gitea', () => {
  test.each([
    [['read:user', 'read:repository'], []],
    [['write:user', 'write:repository'], []],
    [['read:user'], ['read:repository']],
    [['read:repository'], ['read:user']],
    [['read:issue'], ['read:user', 'read:repository']],
  ])('with %p misses %p', async (scopes, missing) => {
    const { login, ...owner } = await whoIs('gitea', { scopes })
    expect(owner.missing).toEqual(missing)
    expect(login).toBe(missing.includes('read:user') ? null : 'ada')
  })
})

test('a token that may only read is told which right a webhook takes', async () => {
  for (const [kind, scopes, right] of [
    ['gitlab', ['read_api', 'read_repository'], 'api'],
    ['gitea', ['read:user', 'read:repository'], 'write:repository'],
    ['github', ['public_repo'], 'repo'],
  ] as const) {
    await whoIs(kind, { scopes: [...scopes] })
    const error = await providers[kind]
      .createWebhook(
        {
          baseUrl: servers[kind].baseUrl,
          token: 'token',
          allow: ['127.0.0.1'],
          signal: new AbortController().signal,
        },
        {
          repository: 'ada/app',
          url: 'https://davit.example/webhooks/x',
          secret: 's',
          pulls: false,
        },
      )
      .catch((error) => error)
    expect(error).toMatchObject({ reason: 'rights', needed: [right] })
    expect(error.message).toContain(right)
  }
})

test('a list of GitLab too long to be counted is read page by page', async () => {
  const server = startProviderServer('gitlab')
  server.tokens.set('token', { login: 'ada', id: 1, scopes: ['api'] })
  server.fill(10_050)
  const { items, truncated } = await providers.gitlab.listRepositories({
    baseUrl: server.baseUrl,
    token: 'token',
    allow: ['127.0.0.1'],
    signal: new AbortController().signal,
  })
  server.stop()
  expect(items).toHaveLength(10_050)
  expect(truncated).toBe(false)
})

test('a project of GitLab may lie in groups within groups', async () => {
  servers.gitlab.tokens.set('token', { login: 'ada', id: 1, scopes: ['api'] })
  servers.gitlab.add({ fullName: 'team/tools/app' })
  const { items } = await providers.gitlab.listBranches(
    {
      baseUrl: servers.gitlab.baseUrl,
      token: 'token',
      allow: ['127.0.0.1'],
      signal: new AbortController().signal,
    },
    { repository: 'team/tools/app' },
  )
  expect(items.map(({ name }) => name)).toEqual(['main'])
})

test('github.com is asked at its API’s own host, an Enterprise under its own', async () => {
  const hosts: string[] = []
  for (const baseUrl of ['https://github.com', 'https://github.corp.example']) {
    const lookup = async (host: string) => {
      hosts.push(host)
      return []
    }
    await providers.github
      .whoIs({ baseUrl, token: 't', allow: [], signal: new AbortController().signal, lookup })
      .catch(() => {})
  }
  expect(hosts).toEqual(['api.github.com', 'github.corp.example'])
})
