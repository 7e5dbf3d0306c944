import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectGit, type GitOptions } from '../../src/git/git.ts'
import { type Keys, keysFor } from '../../src/git/keys.ts'
import { providers } from '../../src/git/providers/registry.ts'
import { readRepositoryUrl } from '../../src/git/repository-url.ts'
import { commitFiles, makeRepository, ownDockerfile } from '../support/git-server.ts'
import { startProviderServer } from '../support/provider-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-token-'))
const served = join(dir, 'served')
const server = startProviderServer('github', { repositories: served })
const elsewhere = startProviderServer('github', { repositories: served })
const token = 'ghp_3v3ryB0dyShouldN0tS33'
const signal = new AbortController().signal
let turn = 0
let url: string
let commit: string
let lines: string[]

beforeEach(() => {
  const name = `app${++turn}.git`
  commit = commitFiles(makeRepository(join(served, 'ada'), name), { Dockerfile: 'FROM busybox\n' })
  url = `${server.baseUrl}/ada/${name}`
  lines = []
  server.tokens.set(token, { login: 'ada', id: 1, scopes: ['repo'] })
  server.requests.length = 0
  elsewhere.requests.length = 0
})
afterAll(() => {
  server.stop()
  elsewhere.stop()
  rmSync(dir, { recursive: true, force: true })
})

const connect = (options: Partial<GitOptions> = {}) =>
  connectGit({
    dataDir: join(dir, `data${turn}`),
    allowHosts: ['127.0.0.1'],
    allowLocalRepos: false,
    ...options,
  })
const credential = (password = token) => ({
  baseUrl: server.baseUrl,
  ...providers.github.credential(password),
})
const fetch = (keys: Keys, what: { url?: string; commit?: string } = {}, davit = connect()) =>
  davit.fetch({
    url,
    branch: 'main',
    commit: null,
    signal,
    log: (line) => void lines.push(line),
    ...what,
    ...keys,
  })
const failure = (...parameters: Parameters<typeof fetch>) =>
  fetch(...parameters).then(
    () => Promise.reject(new Error('It worked.')),
    (error) => error,
  )

describe('a private repository', () => {
  test('is fetched with the token of its source', async () => {
    expect((await fetch({ credential: credential() })).commit.hash).toBe(commit)
    expect(new Set(server.requests.map((request) => request.token))).toEqual(new Set([token]))
  })

  test('is not fetched without it', async () => {
    expect(await failure({})).toMatchObject({ code: 'authentication' })
  })

  test('says that the token was not accepted, and nothing more of it', async () => {
    const error = await failure({ credential: credential('ghp_revoked') })
    expect(error.code).toBe('authentication')
    expect(error.message).toContain('refused the token')
    expect(error.hint).toContain('Settings')
    expect(Bun.inspect(error)).not.toContain('ghp_revoked')
  })

  test('leaves the token nowhere on the disk, nor in the log', async () => {
    await fetch({ credential: credential() })
    const basic = btoa(`x-access-token:${token}`)
    const written = readdirSync(join(dir, `data${turn}`), { recursive: true })
      .map((name) => join(dir, `data${turn}`, String(name)))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, 'latin1'))
    for (const text of [...written, ...lines]) {
      expect(text.includes(token) || text.includes(basic)).toBe(false)
    }
    expect(written.length).toBeGreaterThan(5)
  })

  test('is not found by its address and commit alone, once somebody fetched it', async () => {
    const davit = connect()
    await fetch({ credential: credential() }, { commit }, davit)
    const error = await failure({}, { commit }, davit)
    expect(error).toMatchObject({ code: 'authentication' })
  })

  test('goes with all its mirrors', async () => {
    const davit = connect()
    await fetch({ credential: credential() }, {}, davit)
    server.tokens.set('another', { login: 'bob', id: 2, scopes: ['repo'] })
    await fetch({ credential: credential('another') }, {}, davit)
    expect(await davit.removeMirror(url)).toBe(true)
    expect(readdirSync(join(dir, `data${turn}`, 'mirrors'))).toEqual([])
  })

  test('gives its submodules with the same token', async () => {
    const inner = commitFiles(makeRepository(join(served, 'ada'), `inner${turn}.git`), { a: 'a' })
    commitFiles(join(served, 'ada', `app${turn}.git`), {
      '.gitmodules': `[submodule "in"]\n\tpath = in\n\turl = ../inner${turn}.git\n`,
      in: { commit: inner },
    })
    const davit = connect()
    const snapshot = await fetch({ credential: credential() }, {}, davit)
    const what = { contextDir: '.', ...ownDockerfile, signal, log: () => {} }
    const context = await davit.context(snapshot, { ...what, credential: credential() })
    expect(context.files).toBe(3)
    const refused = await davit.context(snapshot, what).catch((error) => error)
    expect(refused).not.toHaveProperty('files')
  })
})

describe('a token', () => {
  test('goes to the host it was stored for only', async () => {
    const other = url.replace(server.baseUrl, elsewhere.baseUrl)
    expect(await failure({ credential: credential() }, { url: other })).toMatchObject({
      code: 'authentication',
    })
    expect(elsewhere.requests.length).toBeGreaterThan(0)
    expect(elsewhere.requests.every((request) => request.token === null)).toBe(true)
  })

  test('goes below its base URL only', async () => {
    const below = { ...credential(), baseUrl: `${server.baseUrl}/git` }
    await failure({ credential: below })
    expect(server.requests.every((request) => request.token === null)).toBe(true)
  })

  test.each([
    'https://git.example.com.evil.test/team/app',
    'https://git.example.com/team-evil/app',
    'https://git.example.com:8443/team/app',
    'http://git.example.com/team/app',
    'ssh://git@git.example.com/team/app',
  ])('is not even given to git for %s', (address) => {
    const baseUrl = 'https://git.example.com/team/'
    const own = (text: string) =>
      keysFor(readRepositoryUrl(text, { allowLocal: false }), {
        credential: { ...credential(), baseUrl },
      })
    expect(own(address)).toMatchObject({ env: {}, kind: null })
    expect(own('https://git.example.com/team/app')).toMatchObject({ kind: 'token' })
  })

  test('does not follow a redirect', async () => {
    server.mode = { redirect: url.replace(server.baseUrl, elsewhere.baseUrl) }
    const error = await failure({ credential: credential() })
    server.mode = 'answer'
    expect(error).toMatchObject({ code: 'redirected' })
    expect(elsewhere.requests).toEqual([])
  })
})

test('after a redirect on its host the token goes to addresses below its own alone', async () => {
  const seen: string[] = []
  let to = ''
  const host = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      seen.push(`${pathname.replace('/info/refs', '')} ${request.headers.has('Authorization')}`)
      const isFirst = pathname.startsWith('/team/old')
      return isFirst
        ? Response.redirect(`${to}/info/refs${search}`, 307)
        : new Response('', { status: 404 })
    },
  })
  const baseUrl = `http://127.0.0.1:${host.port}`
  const asked = async (below: string, path: string) => {
    seen.length = 0
    to = path
    const keys = { credential: { ...credential(), baseUrl: baseUrl + below } }
    const error = await failure(keys, { url: `${baseUrl}/team/old` })
    return { code: error.code, seen: [...new Set(seen)] }
  }
  const code = 'repository_not_found'
  const kept = ['/team/old true', '/team/new true']
  expect(await asked('/team', '/team/new')).toEqual({ code, seen: kept })
  const lost = ['/team/old true', '/other/new false']
  expect(await asked('/team', '/other/new')).toEqual({ code, seen: lost })
  const none = ['/team/old false', '/other/new false']
  expect(await asked('/other', '/other/new')).toEqual({ code, seen: none })
  host.stop(true)
})

describe('branches', () => {
  test('are listed with their commits, and the one that HEAD names', async () => {
    const tip = commitFiles(join(served, 'ada', `app${turn}.git`), { a: 'b' }, { branch: 'a;b' })
    const found = await connect().listBranches({ url, signal, credential: credential() })
    expect(found).toEqual({
      head: 'main',
      branches: [
        { name: 'a;b', commit: tip },
        { name: 'main', commit },
      ],
    })
  })

  test('of an empty repository are none', async () => {
    makeRepository(join(served, 'ada'), `empty${turn}.git`)
    const empty = `${server.baseUrl}/ada/empty${turn}.git`
    const found = await connect().listBranches({ url: empty, signal, credential: credential() })
    expect(found.branches).toEqual([])
  })

  test('of a private repository are not told to who has no token', async () => {
    const error = await connect()
      .listBranches({ url, signal })
      .catch((error) => error)
    expect(error).toMatchObject({ code: 'authentication' })
  })
})

test('what a server says of the token is not repeated', async () => {
  const parrot = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) =>
      new Response(`You sent ${request.headers.get('Authorization')}, that is ${token}`, {
        status: 403,
        headers: { 'Content-Type': 'text/plain' },
      }),
  })
  const baseUrl = `http://127.0.0.1:${parrot.port}`
  const keys = { credential: { ...credential(), baseUrl } }
  const error = await failure(keys, { url: `${baseUrl}/a/b.git` })
  parrot.stop(true)
  expect(Bun.inspect(error)).toContain('***')
  expect(Bun.inspect(error)).not.toContain(token)
  expect(Bun.inspect(error)).not.toContain(btoa(`x-access-token:${token}`))
})
