import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Access } from '../../../src/git/providers/provider.ts'
import { ProviderError } from '../../../src/git/providers/provider-error.ts'
import { providers, type ProviderName } from '../../../src/git/providers/registry.ts'
import { startProviderServer } from '../../support/provider-server.ts'

const kinds: ProviderName[] = ['github', 'gitlab', 'gitea']
const enough = {
  github: ['repo'],
  gitlab: ['api'],
  gitea: ['read:user', 'write:repository'],
}
const token = 'tok_en-0123456789abcdef'

describe.each(kinds)('%s', (kind) => {
  const provider = providers[kind]
  const server = startProviderServer(kind)
  afterAll(() => server.stop())
  beforeEach(() => {
    Object.assign(server, { mode: 'answer', requests: [], repositories: [], perPage: 100 })
    server.tokens.clear()
    server.tokens.set(token, { login: 'ada', id: 42, scopes: enough[kind] })
  })

  const access = (options: Partial<Access> = {}): Access => ({
    baseUrl: server.baseUrl,
    token,
    allow: ['127.0.0.1'],
    signal: new AbortController().signal,
    ...options,
  })
  const refusal = (work: Promise<unknown>): Promise<ProviderError> =>
    work.then(
      () => Promise.reject(new Error('It was answered.')),
      (error) => error,
    )
  const app = { repository: 'ada/app' }

  test('shows whose a token is', async () => {
    expect(await provider.whoIs(access())).toMatchObject({ login: 'ada', missing: [] })
  })

  test('lists every repository of 7 pages, each once', async () => {
    server.perPage = 10
    server.fill(67)
    const { items, truncated } = await provider.listRepositories(access())
    expect(truncated).toBe(false)
    expect(items.map(({ fullName }) => fullName).sort()).toEqual(
      server.repositories.map(({ fullName }) => fullName).sort(),
    )
    expect(server.requests).toHaveLength(7)
  })

  test('lists nothing where there is nothing', async () => {
    expect(await provider.listRepositories(access())).toEqual({ items: [], truncated: false })
  })

  test('takes the clone address from the base URL, not from the answer', async () => {
    server.add({ fullName: 'ada/app', private: true, defaultBranch: 'trunk' })
    const { items } = await provider.listRepositories(access())
    expect(items).toEqual([
      {
        fullName: 'ada/app',
        cloneUrl: `${server.baseUrl}/ada/app.git`,
        defaultBranch: 'trunk',
        private: true,
      },
    ])
  })

  test('lists all branches and tags', async () => {
    const refs = Array.from({ length: 120 }, (_, i) => ({
      name: `release/${i}`,
      commit: String(i).padStart(40, '0'),
    }))
    server.add({ ...app, fullName: 'ada/app', branches: refs, tags: refs.slice(0, 3) })
    expect((await provider.listBranches(access(), app)).items).toEqual(refs)
    expect((await provider.listTags(access(), app)).items).toEqual(refs.slice(0, 3))
  })

  test('shows the default branch', async () => {
    server.add({ fullName: 'ada/app', defaultBranch: 'trunk' })
    expect(await provider.getDefaultBranch(access(), app)).toBe('trunk')
  })

  test('registers a webhook, finds it and removes it', async () => {
    const repository = server.add({ fullName: 'ada/app' })
    const url = `https://davit.example.com/webhooks/${kind}`
    expect(await provider.findWebhook(access(), { ...app, url })).toBeNull()
    const wanted = { ...app, url, secret: 'a secret of 20' }
    const hook = await provider.createWebhook(access(), { ...wanted, pulls: true })
    expect(repository.hooks[0]).toMatchObject({ url, secret: 'a secret of 20' })
    // the others tell of tags as of branches
    expect(repository.hooks[0]!.events).toEqual(
      {
        github: ['push', 'pull_request', 'check_suite', 'status'],
        gitlab: { push: true, tags: true, pulls: true },
        gitea: ['push', 'pull_request', 'pull_request_sync', 'status'],
      }[kind],
    )
    expect(await provider.findWebhook(access(), { ...app, url })).toEqual(hook)
    expect(await provider.findWebhook(access(), { ...app, url: `${url}/other` })).toBeNull()
    await provider.deleteWebhook(access(), { ...app, id: hook.id })
    expect(repository.hooks).toEqual([])
    await provider.createWebhook(access(), { ...wanted, pulls: false })
    expect(JSON.stringify(repository.hooks[0]!.events)).not.toMatch(/pull_request|"pulls":true/)
  })

  test('does not mind that a webhook was removed before', async () => {
    server.add({ fullName: 'ada/app' })
    await provider.deleteWebhook(access(), { ...app, id: '7' })
    expect(server.requests).toHaveLength(1)
  })

  test('sets the status of a commit', async () => {
    const repository = server.add({ fullName: 'ada/app' })
    const status = {
      commit: 'b'.repeat(40),
      context: 'davit/production',
      description: 'x'.repeat(400),
      url: 'https://d.example/1',
    }
    for (const state of ['pending', 'success', 'failure'] as const) {
      await provider.setCommitStatus(access(), { ...app, ...status, state })
    }
    expect(repository.statuses.map(({ state }) => state)).toEqual([
      'pending',
      'success',
      kind === 'gitlab' ? 'failed' : 'failure',
    ])
    expect(repository.statuses[0]).toMatchObject({
      sha: status.commit,
      target_url: status.url,
      [kind === 'gitlab' ? 'name' : 'context']: status.context,
    })
    expect(String(repository.statuses[0]!.description).length).toBeLessThan(256)
  })

  test('that does not know the token says so', async () => {
    const error = await refusal(provider.whoIs(access({ token: 'not-a-known-one' })))
    expect(error).toMatchObject({ reason: 'token', code: 'bad_gateway' })
    expect(error.message).toContain('refused the token')
    expect(error.message).not.toContain('not-a-known-one')
  })

  test('that does not show a repository says that there may be none', async () => {
    const error = await refusal(provider.listBranches(access(), { repository: 'ada/none' }))
    expect(error).toMatchObject({ reason: 'missing', code: 'not_found' })
    expect(error.message).toContain('ada/none')
  })

  test('whose count of requests is used up says until when', async () => {
    server.mode = 'limit'
    const error = await refusal(provider.listRepositories(access()))
    expect(error).toMatchObject({ reason: 'limit', code: 'too_many' })
    expect(error.message).toMatch(/until \d\d:\d\d UTC/)
    const seconds = { github: [595, 601], gitlab: [42, 42], gitea: [30, 30] }[kind]
    expect(error.retryAfter).toBeWithin(seconds[0]!, seconds[1]! + 1)
  })

  test.each([
    ['html', 'stranger'],
    ['broken json', 'stranger'],
    ['other json', 'stranger'],
    ['huge', 'stranger'],
    ['down', 'down'],
  ] as const)(
    'that answers with %s is a fault in words, and none of its own',
    async (mode, reason) => {
      server.mode = mode
      const error = await refusal(provider.whoIs(access()))
      expect(error).toMatchObject({ reason, code: 'bad_gateway' })
      expect(`${error.message} ${error.stack}`).not.toMatch(/10\.0\.0\.7|PG::|hush|html>/)
      expect(error.message).not.toContain(token)
    },
  )

  test('that never answers is left', async () => {
    server.mode = 'hang'
    for (const work of [provider.whoIs, provider.listRepositories]) {
      const error = await refusal(work(access({ timeout: 80 })))
      expect(error).toMatchObject({ reason: 'down' })
      expect(error.message).toContain('in time')
    }
  })

  test('that falls silent between pages leaves a list that says it is cut', async () => {
    server.perPage = 5
    server.fill(60)
    server.mode = { hangAfter: 3 }
    const { items, truncated } = await provider.listRepositories(access({ timeout: 150 }))
    expect(truncated).toBe(true)
    expect(items.length).toBeGreaterThanOrEqual(5)
    expect(items.length).toBeLessThan(60)
  })

  test('is not waited for after an abort', async () => {
    server.mode = 'hang'
    const abort = new AbortController()
    const work = provider.listRepositories(access({ signal: abort.signal }))
    abort.abort(new Error('Enough.'))
    expect(await refusal(work)).toMatchObject({ message: 'Enough.' })
  })

  test('that redirects to another host is not followed, and the token stays', async () => {
    const other = startProviderServer(kind)
    server.mode = { redirect: `${other.baseUrl}/` }
    const error = await refusal(provider.whoIs(access()))
    other.stop()
    expect(error).toMatchObject({ reason: 'stranger' })
    expect(other.requests).toEqual([])
  })

  test('that answers a change with a page, or redirects it to one, has not made it', async () => {
    const moved = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ method, url }) => (method === 'GET' ? Response.json({}) : Response.redirect(url)),
    })
    server.mode = 'html'
    const status = { context: 'davit/production', description: '', url: 'https://d.example/1' }
    const success = { commit: 'b'.repeat(40), state: 'success' } as const
    for (const baseUrl of [server.baseUrl, moved.url.origin]) {
      const at = access({ baseUrl })
      for (const work of [
        () => provider.setCommitStatus(at, { ...app, ...status, ...success }),
        () => provider.deleteWebhook(at, { ...app, id: '7' }),
      ])
        expect(await refusal(work())).toMatchObject({ reason: 'stranger', code: 'bad_gateway' })
    }
    await moved.stop(true)
  })

  test('on a private host is not asked, and the setting that admits it is named', async () => {
    const error = await refusal(provider.whoIs(access({ allow: [] })))
    expect(error).toMatchObject({ reason: 'host', code: 'bad_gateway' })
    expect(error.message).toContain('DAVIT_ALLOW_HOSTS')
    expect(server.requests).toEqual([])
  })

  test('whose name leads to a private address is not asked', async () => {
    const { port } = new URL(server.baseUrl)
    const baseUrl = `http://git.example:${port}`
    const rebound = { baseUrl, allow: [], lookup: async () => ['127.0.0.1'] }
    const error = await refusal(provider.whoIs(access(rebound)))
    expect(error).toMatchObject({ reason: 'host' })
    expect(server.requests).toEqual([])
  })
})
