import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeSshKey } from '../../src/platform/ssh-key.ts'
import { connectGit } from '../../src/git/git.ts'
import { commitFiles, makeRepository } from '../support/git-server.ts'
import { type SshServer, startSshServer } from '../support/ssh-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-ssh-'))
const repository = makeRepository(dir, 'app.git')
const commit = commitFiles(repository, { Dockerfile: 'FROM busybox\n' })
const key = makeSshKey()
let server: SshServer
let turn = 0
let dataDir: string

beforeAll(async () => {
  server = await startSshServer()
}, 120_000)
beforeEach(() => {
  dataDir = join(dir, `data${++turn}`)
  server.allow(key.publicKey)
})
afterAll(async () => {
  await server.stop()
  rmSync(dir, { recursive: true, force: true })
})

const fetch = (deployKey: string | null = key.privateKey) =>
  connectGit({ dataDir, allowHosts: ['127.0.0.1'], allowLocalRepos: false }).fetch({
    url: server.urlOf(repository),
    branch: 'main',
    commit: null,
    signal: new AbortController().signal,
    log: () => {},
    deployKey,
  })
const failure = (deployKey?: string | null) =>
  fetch(deployKey).then(
    () => Promise.reject(new Error('It worked.')),
    (error) => error,
  )
const knownHosts = () => readFileSync(join(dataDir, 'git-home', 'known_hosts'), 'utf8')

describe('a repository behind sshd', () => {
  test('is fetched with the deploy key, which is gone afterwards', async () => {
    expect((await fetch()).commit.hash).toBe(commit)
    expect(readdirSync(join(dataDir, 'git-home', 'keys'))).toEqual([])
  })

  test('is not fetched with another key, or none', async () => {
    const error = await failure(makeSshKey().privateKey)
    expect(error.code).toBe('authentication')
    expect(error.message).toContain('deploy key')
    expect(readdirSync(join(dataDir, 'git-home', 'keys'))).toEqual([])
    expect(await failure(null)).toMatchObject({ code: 'authentication' })
  })
})

describe('the host key', () => {
  test('is pinned at the first use, for this port', async () => {
    await fetch()
    expect(knownHosts()).toMatch(new RegExp(`^\\[127\\.0\\.0\\.1\\]:${server.port} ssh-`))
    const pinned = knownHosts()
    await fetch()
    expect(knownHosts()).toBe(pinned)
  })

  test('that changed is refused, with an explanation', async () => {
    await fetch()
    const pinned = knownHosts()
    await server.changeHostKey()
    const error = await failure()
    expect(error.code).toBe('host_key_changed')
    expect(error.message).toContain('different host key')
    expect(error.hint).toContain('known_hosts')
    expect(knownHosts()).toBe(pinned)
  })
})

test('keys that a killed process left behind go when Davit starts', () => {
  const left = join(dataDir, 'git-home', 'keys', 'left')
  const start = () => connectGit({ dataDir, allowHosts: [], allowLocalRepos: false })
  start()
  Bun.spawnSync(['mkdir', '-p', join(dataDir, 'git-home', 'keys')])
  writeFileSync(left, key.privateKey)
  start()
  expect(existsSync(left)).toBe(false)
})

test('a key pair is one that OpenSSH reads, and no two are the same', () => {
  const path = join(dir, 'pair')
  writeFileSync(path, key.privateKey, { mode: 0o600 })
  const { exitCode, stdout } = Bun.spawnSync(['ssh-keygen', '-y', '-P', '', '-f', path])
  expect(exitCode).toBe(0)
  expect(stdout.toString().trim()).toBe(key.publicKey)
  expect(makeSshKey().publicKey).not.toBe(key.publicKey)
})
