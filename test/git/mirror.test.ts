import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitFiles } from '../support/git-server.ts'
import {
  connect,
  dataDir,
  dir,
  failure,
  fetch,
  lines,
  never,
  repository,
  server,
  url,
  turn,
  serveRepositories,
} from './fetching.ts'

serveRepositories()

/** The only branch that was fetched. */
const refOf = (mirror: string) => {
  const heads = join(mirror, 'refs/davit/heads')
  return join(heads, readdirSync(heads)[0]!)
}

describe('a mirror', () => {
  const damages: [string, (mirror: string) => void][] = [
    ['lost its HEAD', (mirror) => rmSync(join(mirror, 'HEAD'))],
    ['has a stale shallow.lock', (mirror) => writeFileSync(join(mirror, 'shallow.lock'), '')],
    ['has a stale lock of its branch', (mirror) => writeFileSync(`${refOf(mirror)}.lock`, '')],
    ['was half made', (mirror) => rmSync(join(mirror, 'davit-sound-2'))],
    ['has an empty ref', (mirror) => truncateSync(refOf(mirror))],
    ['has a broken config', (mirror) => writeFileSync(join(mirror, 'config'), '[[[')],
    [
      'has empty objects',
      (mirror) => {
        for (const path of new Bun.Glob('objects/??/*').scanSync(mirror)) {
          rmSync(join(mirror, path))
          writeFileSync(join(mirror, path), '')
        }
      },
    ],
    ['lost its objects', (mirror) => rmSync(join(mirror, 'objects'), { recursive: true })],
  ]
  test.each(damages)('that %s is made anew', async (_, damage) => {
    commitFiles(repository, { a: '1' })
    const davit = connect()
    const { mirror } = await fetch({}, davit)
    damage(mirror)
    const hash = commitFiles(repository, { a: '2' })
    expect((await fetch({}, davit)).commit.hash).toBe(hash)
  })

  test('is worked on by one fetch at a time', async () => {
    const hash = commitFiles(repository, { a: '1' })
    const davit = connect()
    const all = await Promise.all(Array.from({ length: 5 }, () => fetch({}, davit)))
    expect(all.map(({ commit }) => commit.hash)).toEqual(Array(5).fill(hash))
  })

  test('of a repository that never came is not kept', async () => {
    await failure({ url: `${server.url}nothing.git` })
    expect(readdirSync(join(dataDir, 'mirrors'))).toEqual([])
  })

  test('is waited for only until the deployment is cancelled', async () => {
    server.mode = 'hang'
    const davit = connect()
    const [first, second] = [new AbortController(), new AbortController()]
    const holding = failure({ signal: first.signal }, davit)
    const waiting = failure({ signal: second.signal }, davit)
    second.abort(new Error('Cancelled.'))
    expect(await waiting).toMatchObject({ message: 'Cancelled.' })
    first.abort(new Error('Too.'))
    expect(await holding).toMatchObject({ message: 'Too.' })
  })

  test('goes when it is told to', async () => {
    commitFiles(repository, { a: '1' })
    const davit = connect()
    const { mirror } = await fetch({}, davit)
    expect(await davit.removeMirror(url)).toBe(true)
    expect(existsSync(mirror)).toBe(false)
    expect(await davit.removeMirror(url)).toBe(false)
  })
})

describe('a server', () => {
  test('that requires a password is a failure at once, without a prompt', async () => {
    commitFiles(repository, { a: '1' })
    server.mode = 'unauthorized'
    expect(await failure()).toMatchObject({ code: 'authentication' })
  })

  test('that never answers is given up at the deadline', async () => {
    server.mode = 'hang'
    const started = performance.now()
    const silence = connect({ deadlines: { silence: 300 } })
    expect(await failure({}, silence)).toMatchObject({ code: 'git_timeout' })
    const transfer = connect({ deadlines: { transfer: 300 } })
    expect(await failure({}, transfer)).toMatchObject({ code: 'git_timeout' })
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('with more than a repository may take is left, and nothing of it is kept', async () => {
    const small = connect({ repositorySize: 2 ** 20, look: 2 })
    commitFiles(repository, { Dockerfile: 'FROM busybox\n' })
    await fetch({}, small)
    commitFiles(repository, { big: randomText(8 * 2 ** 20) })
    const error = await failure({}, small)
    expect(error).toMatchObject({
      code: 'repository_too_large',
      message: `The repository ${url.replace('http://', '')} uses more than 1.0 MiB on disk.`,
      hint: expect.stringContaining('DAVIT_REPOSITORY_SIZE'),
    })
    expect(readdirSync(join(dataDir, 'mirrors'))).toEqual([])
    await fetch()
  })

  test('whose old commits use too much space is fetched again without them', async () => {
    const small = connect({ repositorySize: 2 ** 20, look: 2 })
    for (const big of ['first', 'second', 'third']) {
      commitFiles(repository, { big: big + randomText(2 ** 19) })
      await fetch({}, small)
    }
    expect(lines).toContain(
      'The mirror of this repository has become too large: fetching it again.',
    )
  })

  test('that hangs is left at once when the deployment is cancelled', async () => {
    server.mode = 'hang'
    const cancel = new AbortController()
    const asked = server.requests.length
    const waiting = failure({ signal: cancel.signal })
    while (server.requests.length === asked) await Bun.sleep(5)
    const started = performance.now()
    cancel.abort(new Error('Cancelled.'))
    expect(await waiting).toMatchObject({ message: 'Cancelled.' })
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('that leads elsewhere is not followed', async () => {
    let hits = 0
    const elsewhere = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(`${++hits}`),
    })
    server.mode = { redirect: `http://127.0.0.1:${elsewhere.port}` }
    expect(await failure()).toMatchObject({ code: 'redirected' })
    expect(hits).toBe(0)
    elsewhere.stop(true)
  })

  test('that leads to another address on its host is followed there, by every command', async () => {
    const hash = commitFiles(repository, { Dockerfile: 'FROM busybox' })
    const short = url.replace(/\.git$/, '')
    const path = new URL(short).pathname
    server.mode = { moved: { [`${path}/`]: `/renamed/app/`, '/renamed/app/': `${url}/` } }
    const davit = connect()
    for (const branch of [null, 'main'])
      expect(await fetch({ url: short, branch }, davit)).toMatchObject({
        url: short,
        commit: { hash },
      })
    const asked = { url: short, userId: 'ada', signal: never }
    expect((await davit.listBranches(asked)).head).toBe('main')
    expect((await davit.readTip(asked)).dockerfiles).toEqual(['Dockerfile'])
  })

  test.each([
    ['in a circle', (path: string) => ({ [path]: path })],
    ['ever further', (path: string) => ({ [path]: `${path}x/` })],
    ['to a page', (path: string) => ({ [path]: '/login?to=' })],
    ['to a page of the service', (path: string) => ({ [path]: '/login#' })],
    ['to another port', (path: string) => ({ [path]: `http://127.0.0.1:1${path}` })],
    ['to another host', (path: string) => ({ [path]: `http://localhost${path}` })],
    ['to another protocol', (path: string) => ({ [path]: `ftp://127.0.0.1${path}` })],
  ])('that leads %s is followed no further', async (_, moved) => {
    const path = `${new URL(url).pathname}/`
    server.mode = { moved: moved(path) }
    const before = server.requests.length
    expect(await failure()).toMatchObject({ code: 'redirected' })
    expect(server.requests.length - before).toBeLessThan(15)
  })

  test.each([429, 418])(
    'that refuses with %d is not taken for a damaged mirror',
    async (status) => {
      const hash = commitFiles(repository, { a: '1' })
      const davit = connect()
      await fetch({}, davit)
      server.mode = { status }
      const before = server.requests.length
      expect(await failure({}, davit)).toMatchObject({
        code: 'git_failed',
        message: expect.stringContaining(`${status}`),
      })
      expect(server.requests.length - before).toBe(1)
      expect(lines.filter((line) => line.includes('mirror'))).toEqual([])
      server.mode = 'serve'
      expect((await fetch({}, davit)).commit.hash).toBe(hash)
    },
  )

  test('without that repository is said to have none', async () => {
    const error = await failure({ url: `${server.url}nothing.git` })
    expect(error).toMatchObject({ code: 'repository_not_found' })
    expect(error.message).toContain('/nothing.git')
  })

  test('that nothing listens at can’t be reached', async () => {
    const closed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const { port } = closed
    closed.stop(true)
    const error = await failure({ url: `http://127.0.0.1:${port}/a.git` })
    expect(error).toMatchObject({ code: 'host_unreachable' })
  })

  test('on a private address is never connected to', async () => {
    const before = server.requests.length
    const { port } = new URL(server.url)
    const closed = connect({ allowHosts: [] })
    for (const host of ['127.0.0.1', 'localhost', '127.1', '2130706433', '[::ffff:127.0.0.1]']) {
      const error = await failure({ url: `http://${host}:${port}/a.git` }, closed)
      expect(error).toMatchObject({ code: 'host_refused' })
    }
    const rebinding = connect({ allowHosts: [], lookup: async () => ['127.0.0.1'] })
    expect(
      await failure({ url: `http://evil.example.com:${port}/a.git` }, rebinding),
    ).toMatchObject({
      code: 'host_refused',
    })
    expect(server.requests.length).toBe(before)
  })

  test('is connected to at the address that was checked, whatever the name leads to', async () => {
    const hash = commitFiles(repository, { a: '1' })
    let asked = 0
    const lookup = async () => (++asked === 1 ? ['127.0.0.1'] : ['192.0.2.1'])
    const davit = connect({ allowHosts: ['git.example.invalid'], lookup })
    const named = url.replace('127.0.0.1', 'git.example.invalid')
    expect((await fetch({ url: named, branch: null }, davit)).commit.hash).toBe(hash)
    expect(asked).toBe(1)
  })

  test('whose name does not exist is said to be unknown', async () => {
    const error = await failure({ url: 'https://nowhere.invalid/a.git' })
    expect(error).toMatchObject({ code: 'host_unresolved' })
  })

  test('of ssh is asked with constant options and the checked address', async () => {
    const bin = join(dir, `bin${turn}`)
    const seen = join(dir, `ssh${turn}`)
    await Bun.write(join(bin, 'ssh'), `#!/bin/sh\nprintf '%s\\n' "$@" > ${seen}\nexit 255\n`)
    Bun.spawnSync(['chmod', '+x', join(bin, 'ssh')])
    const path = process.env.PATH
    process.env.PATH = `${bin}:${path}`
    try {
      const davit = connect({ lookup: async () => ['9.9.9.9'] })
      await failure({ url: 'git@git.example.com:owner/$(id).git' }, davit)
    } finally {
      process.env.PATH = path
    }
    const args = (await Bun.file(seen).text()).split('\n')
    expect(args).toContain('BatchMode=yes')
    expect(args).toContain('HostName=9.9.9.9')
    expect(args).toContain('HostKeyAlias=git.example.com')
    expect(args.join('\n')).toContain("git-upload-pack '/owner/$(id).git'")
  })
})

describe('a local repository', () => {
  test('is refused unless the operator admits them', async () => {
    commitFiles(repository, { a: '1' })
    for (const local of [repository, `file://${repository}`]) {
      const error = await failure({ url: local })
      expect(error).toMatchObject({ code: 'repository_refused' })
      expect(error.message).toContain('DAVIT_ALLOW_LOCAL_REPOS')
    }
  })

  test('is fetched like any other where they are admitted', async () => {
    const hash = commitFiles(repository, { a: '1' })
    const davit = connect({ allowLocalRepos: true })
    expect((await fetch({ url: repository, branch: null }, davit)).commit.hash).toBe(hash)
    expect(await failure({ url: join(dir, 'nothing.git') }, davit)).toMatchObject({
      code: 'repository_not_found',
    })
  })
})

/** Nothing makes it smaller. */
const randomText = (length: number) =>
  Array.from({ length: length / 65_536 }, () =>
    crypto.getRandomValues(new Uint8Array(49_152)).toBase64(),
  ).join('')
