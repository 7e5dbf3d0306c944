import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLookups } from '../../src/git/look-up.ts'
import type { LookupDeps } from '../../src/git/look-up.ts'
import { testApp } from '../support/app.ts'
import { commitFiles, makeRepository, startGitServer } from '../support/git-server.ts'
import { until } from '../support/until.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-looks-'))
const gitServer = startGitServer(dir)
commitFiles(makeRepository(dir, 'app.git'), { a: 'a' })
afterAll(() => {
  gitServer.stop()
  rmSync(dir, { recursive: true, force: true })
})
beforeEach(() => {
  gitServer.mode = 'serve'
})

function start() {
  const t = testApp()
  return { ...t, ada: t.logIn('ada@example.com') }
}

describe('a look at an address', () => {
  const look = (url: string) => `/api/git/look?${new URLSearchParams({ repository_url: url })}`

  test('names its branches and its Dockerfiles, and keeps nothing of it', async () => {
    const repository = makeRepository(dir, 'docker.git')
    commitFiles(repository, {
      Dockerfile: 'FROM busybox',
      'apps/api/Dockerfile': 'FROM busybox',
      'apps/web/Dockerfile.dev': 'FROM busybox',
      'docs/Dockerfiles.md': 'x',
      'large.bin': 'x'.repeat(100_000),
      'deploy/compose.prod.yml': 'services: {}',
      'docker-compose.yaml': 'services: {}',
    })
    const { ada, config } = start()
    const { json } = await ada.get(look(`${gitServer.url}docker.git`))
    expect(json).toEqual({
      defaultBranch: 'main',
      branches: ['main'],
      dockerfiles: ['Dockerfile', 'apps/api/Dockerfile', 'apps/web/Dockerfile.dev'],
      composeFiles: ['docker-compose.yaml', 'deploy/compose.prod.yml'],
      detected: null,
      workspaces: [],
    })
    expect(readdirSync(join(config.dataDir, 'git-home', 'looks'))).toEqual([])
  })

  test('takes a dockerfile for one that is built by itself', async () => {
    commitFiles(makeRepository(dir, 'lower.git'), { dockerfile: 'FROM busybox', 'a/x': 'x' })
    const { ada } = start()
    const { text } = await ada.htmx('GET', look(`${gitServer.url}lower.git`))
    expect(text).toMatch(/<code>dockerfile<\/code>\s*is there/)
  })

  test('recognises what it is where there is no Dockerfile', async () => {
    commitFiles(makeRepository(dir, 'express.git'), {
      'package.json': JSON.stringify({
        scripts: { start: 'node x' },
        dependencies: { express: '5' },
      }),
      'package-lock.json': '{}',
      'docker/Dockerfile': 'FROM busybox',
    })
    const { ada, config } = start()
    const { json } = await ada.get(look(`${gitServer.url}express.git`))
    expect(json).toMatchObject({
      dockerfiles: ['docker/Dockerfile'],
      detected: { kind: 'Express' },
    })
    expect(readdirSync(join(config.dataDir, 'git-home', 'looks'))).toEqual([])
  })

  test('says so where there is none, and what it found for the form', async () => {
    const { ada } = start()
    const { text } = await ada.htmx('GET', look(`${gitServer.url}app.git`))
    expect(text).toContain('one branch')
    expect(text).toContain('no Dockerfile')
    expect(text).toContain('<datalist id="repository-branches"><option value="main">')
  })

  test('helps with what is private, opened by a key, or no address, and replaces no form', async () => {
    const { ada } = start()
    gitServer.mode = 'unauthorized'
    const hidden = await ada.htmx('GET', look(`${gitServer.url}private.git`))
    expect([hidden.status, hidden.text.includes('from=source')]).toEqual([200, true])
    const ssh = await ada.htmx('GET', look('git@git.example.com:team/app.git'))
    expect(ssh.text).toContain('deploy key')
    const odd = await ada.htmx('GET', look('ext::sh -c id'))
    expect([odd.status, odd.text.includes('class="alert"')]).toEqual([200, false])
    expect((await ada.htmx('GET', look(''))).text).toBe('')
    expect((await ada.get(look('ext::sh -c id'))).status).toBe(422)
  })

  test('ends with the request that asked', async () => {
    gitServer.mode = 'hang'
    const { ada, config } = start()
    const leaving = new AbortController()
    const asked = ada.send(look(`${gitServer.url}slow.git`), { signal: leaving.signal })
    await until(() => gitServer.requests.some((path) => path.includes('slow.git')))
    leaving.abort()
    await Promise.resolve(asked).catch(() => {})
    const looks = join(config.dataDir, 'git-home', 'looks')
    await until(() => !existsSync(looks) || readdirSync(looks).length === 0)
  })

  test('of one who leaves is no answer to others', async () => {
    const { config } = start()
    const begun = Promise.withResolvers<void>()
    const leaving = new AbortController()
    const git = {
      listBranches: async () => ({ head: 'main', branches: [] }),
      async readTip({ signal }: { signal: AbortSignal }) {
        if (leaving.signal.aborted) return { dockerfiles: ['Dockerfile'], files: null }
        begun.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        throw signal.reason
      },
    }
    const { lookUp } = openLookups({ git, config } as unknown as LookupDeps)
    const url = `${gitServer.url}app.git`
    const first = lookUp({ url, userId: 'ada', signal: leaving.signal })
    await begun.promise
    const second = lookUp({ url, userId: 'ada', signal: new AbortController().signal })
    leaving.abort()
    expect(await first.catch((error) => error.name)).toBe('AbortError')
    expect((await second).dockerfiles).toEqual(['Dockerfile'])
  })
})
