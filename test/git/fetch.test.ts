import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectGit, type GitOptions } from '../../src/git/git.ts'
import { commitFiles, git, makeRepository, startGitServer } from '../support/git-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-fetch-'))
const served = join(dir, 'served')
const server = startGitServer(served)
let turn = 0
let repository: string
let url: string
let dataDir: string
let lines: string[]

beforeEach(() => {
  turn++
  repository = makeRepository(served, `app${turn}.git`)
  url = `${server.url}app${turn}.git`
  dataDir = join(dir, `data${turn}`)
  lines = []
})
afterEach(() => {
  server.mode = 'serve'
})
afterAll(() => {
  server.stop()
  rmSync(dir, { recursive: true, force: true })
})

const connect = (options: Partial<GitOptions> = {}) =>
  connectGit({ dataDir, allowHosts: ['127.0.0.1'], allowLocalRepos: false, ...options })

const never = new AbortController().signal
const log = (line: string) => void lines.push(line)

type What = { url?: string; branch?: string | null; commit?: string | null; signal?: AbortSignal }
const fetch = (what: What = {}, davit = connect()) =>
  davit.fetch({ url, branch: 'main', commit: null, signal: never, log, ...what })
const failure = (what: What = {}, davit = connect()) =>
  fetch(what, davit).then(
    () => Promise.reject(new Error('It worked.')),
    (error) => error,
  )

describe('a branch', () => {
  test('is fetched, and its tip told', async () => {
    const files = { Dockerfile: 'FROM busybox\n' }
    const hash = commitFiles(repository, files, { message: 'First line\n\nMore.', author: 'Zoë' })
    const snapshot = await fetch()
    expect(snapshot).toMatchObject({
      url,
      branch: 'main',
      commit: { hash, author: 'Zoë', message: 'First line' },
    })
    expect(lines.some((line) => line.startsWith('remote:'))).toBe(true)
    expect(lines.some((line) => / [1-9]?\d%/.test(line))).toBe(false)
  })

  test.each([
    ['one line of 30 MiB', 'Ada', 'x'.repeat(30 * 2 ** 20), 'x'.repeat(300)],
    ['30 MiB of lines', 'Ada', `\nFirst\n${'x\n'.repeat(15 * 2 ** 20)}`, 'First'],
    ['an author of 1 MiB', 'A'.repeat(2 ** 20), 'First', 'First'],
    ['marks without width', 'Ada', '\u200b'.repeat(2 ** 20), '\u200b'.repeat(300)],
  ])('whose commit has %s is told of in 300 characters', async (_, author, text, message) => {
    commitFiles(repository, { a: 'a' })
    const file = join(dir, `commit${turn}`)
    const by = `${author} <a@example.com> 1700000000 +0000`
    const tree = git(repository, ['rev-parse', 'main^{tree}'])
    writeFileSync(file, `tree ${tree}\nauthor ${by}\ncommitter ${by}\n\n${text}`)
    const hash = git(repository, ['hash-object', '-w', '-t', 'commit', file])
    git(repository, ['update-ref', 'refs/heads/main', hash])
    const { commit } = await fetch()
    expect(commit).toMatchObject({ hash, message })
    expect(commit.author.length).toBeLessThan(110)
  })

  test('that nobody named is the one the remote’s HEAD names', async () => {
    const hash = commitFiles(repository, { a: 'a' }, { branch: 'trunk' })
    commitFiles(repository, { a: 'b' }, { branch: 'main' })
    git(repository, ['symbolic-ref', 'HEAD', 'refs/heads/trunk'])
    expect(await fetch({ branch: null })).toMatchObject({ branch: 'trunk', commit: { hash } })
  })

  test('comes without its history, and again only with what is new', async () => {
    const big = Array.from({ length: 20_000 }, () => Math.random()).join('\n')
    commitFiles(repository, { big, a: '1' })
    commitFiles(repository, { a: '2' })
    const davit = connect()
    const { mirror } = await fetch({}, davit)
    const first = sizeOf(mirror)
    const hash = commitFiles(repository, { a: '3' })
    expect((await fetch({}, davit)).commit.hash).toBe(hash)
    expect(sizeOf(mirror) - first).toBeLessThan(20_000)
    expect(git(mirror, ['rev-list', '--count', hash])).toBe('1')
  })

  test('may have a name that a shell would run', async () => {
    const marker = join(dir, `marker${turn}`)
    for (const branch of [`$(touch ${marker})`.replaceAll(' ', '${IFS}'), 'a;b', 'a`id`', 'ä|b']) {
      const hash = commitFiles(repository, { branch }, { branch })
      expect((await fetch({ branch })).commit.hash).toBe(hash)
    }
    expect(existsSync(marker)).toBe(false)
  })

  test('that a force push rewrote is followed', async () => {
    commitFiles(repository, { a: '1' })
    const davit = connect()
    await fetch({}, davit)
    git(repository, ['update-ref', '-d', 'refs/heads/main'])
    const hash = commitFiles(repository, { b: '1' })
    expect((await fetch({}, davit)).commit.hash).toBe(hash)
  })

  test('that does not exist is answered with the nearest', async () => {
    for (const branch of ['main', 'develop', 'release/1', 'a', 'b', 'c']) {
      commitFiles(repository, { a: branch }, { branch })
    }
    const error = await failure({ branch: 'devlop' })
    expect(error).toMatchObject({
      code: 'unknown_branch',
      message: expect.stringContaining('the nearest is “develop”'),
      hint: expect.stringContaining('one of its 6: develop,'),
    })
  })

  test('that does not exist among 12,000 is answered soon, while the loop goes on', async () => {
    const hash = commitFiles(repository, { a: 'a' })
    const names = Array.from({ length: 12_000 }, (_, i) => `${'x'.repeat(225)}-${i}`)
    const refs = [...names, 'develop'].toSorted().map((name) => `${hash} refs/heads/${name}\n`)
    writeFileSync(join(repository, 'packed-refs'), `# pack-refs with: sorted\n${refs.join('')}`)
    let beats = 0
    const beat = setInterval(() => beats++, 5)
    expect(await failure({ branch: 'devlop' })).toMatchObject({
      message: expect.stringContaining('the nearest is “develop”'),
      hint: expect.stringContaining('one of its 12002: develop,'),
    })
    expect(await failure({ branch: `${'x'.repeat(225)}-` })).toMatchObject({
      message: expect.stringContaining(`the nearest is “${'x'.repeat(225)}-`),
    })
    clearInterval(beat)
    expect(beats).toBeGreaterThan(10)
  })

  test('among more names than are read is not looked for', async () => {
    const hash = commitFiles(repository, { a: 'a' })
    const names = Array.from({ length: 40_000 }, (_, i) => `refs/heads/${'x'.repeat(180)}${i}`)
    const refs = names.toSorted().map((name) => `${hash} ${name}\n`)
    writeFileSync(join(repository, 'packed-refs'), `# pack-refs with: sorted\n${refs.join('')}`)
    expect(await failure({ branch: 'devlop' })).toMatchObject({ code: 'too_many_refs' })
  })

  test.each(['--upload-pack=x', '-h', 'a..b'])('named %s does not reach git', async (branch) => {
    const before = server.requests.length
    expect(await failure({ branch })).toMatchObject({ code: 'unknown_branch' })
    expect(server.requests.length).toBe(before)
  })

  test('of an empty repository does not exist', async () => {
    expect(await failure()).toMatchObject({ code: 'empty_repository' })
    expect(await failure({ branch: null })).toMatchObject({ code: 'empty_repository' })
  })

  test('is not guessed when HEAD leads nowhere', async () => {
    commitFiles(repository, { a: '1' }, { branch: 'trunk' })
    expect(await failure({ branch: null })).toMatchObject({
      code: 'unknown_branch',
      hint: expect.stringContaining('trunk'),
    })
  })

  test('of a repository with SHA-256 hashes comes too', async () => {
    rmSync(repository, { recursive: true })
    git(served, ['init', '-q', '--bare', '-b', 'main', '--object-format=sha256', repository])
    const hash = commitFiles(repository, { a: '1' })
    expect(hash).toHaveLength(64)
    expect((await fetch()).commit.hash).toBe(hash)
  })
})

describe('a tag', () => {
  const tagged = (name: string, ...how: string[]) =>
    git(repository, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'tag', ...how, name, 'main'])

  test.each([
    ['light', []],
    ['annotated', ['-a', '-m', 'Release']],
  ])('that is %s leads to its commit, and again after it was moved', async (_, how) => {
    const first = commitFiles(repository, { a: '1' }, { message: 'First' })
    tagged('v1.0.0', ...how)
    const second = commitFiles(repository, { a: '2' })
    const davit = connect()
    expect(await fetch({ branch: 'v1.0.0' }, davit)).toMatchObject({
      branch: 'v1.0.0',
      commit: { hash: first, message: 'First' },
    })
    expect(lines).toContain('v1.0.0 is a tag.')
    tagged('v1.0.0', '-f', ...how)
    expect((await fetch({ branch: 'v1.0.0' }, davit)).commit.hash).toBe(second)
  })

  test('gives way to a branch of its name', async () => {
    commitFiles(repository, { a: '1' })
    tagged('stable')
    const hash = commitFiles(repository, { a: '2' }, { branch: 'stable' })
    expect((await fetch({ branch: 'stable' })).commit.hash).toBe(hash)
  })

  test('is deployed at an exact commit too, where the server gives only names', async () => {
    const hash = commitFiles(repository, { a: '1' })
    commitFiles(repository, { a: '2' })
    tagged('v1', '-a', '-m', 'x')
    server.mode = 'no hashes'
    expect((await fetch({ branch: 'v1', commit: hash })).commit.hash).toBe(hash)
  })

  test('that names no commit is refused', async () => {
    commitFiles(repository, { a: '1' })
    git(repository, ['tag', 'tree', 'main^{tree}'])
    expect(await failure({ branch: 'tree' })).toMatchObject({
      code: 'unknown_branch',
      message: expect.stringContaining("doesn't name a commit"),
    })
  })

  test('is found where the name is nearly right', async () => {
    commitFiles(repository, { a: '1' })
    tagged('v1.0.0', '-a', '-m', 'x')
    expect(await failure({ branch: '1.0.0' })).toMatchObject({
      code: 'unknown_branch',
      message: expect.stringContaining('no branch or tag “1.0.0”; the nearest is “v1.0.0”'),
      hint: expect.stringContaining('one of its 2: v1.0.0, main'),
    })
  })
})

describe('a commit', () => {
  test('is fetched exactly, behind the tip of its branch', async () => {
    const hash = commitFiles(repository, { a: '1' }, { message: 'Old' })
    commitFiles(repository, { a: '2' })
    expect(await fetch({ commit: hash })).toMatchObject({
      branch: 'main',
      commit: { hash, message: 'Old' },
    })
  })

  test('that is here already needs no network', async () => {
    const hash = commitFiles(repository, { a: '1' })
    const davit = connect()
    await fetch({}, davit)
    server.mode = 'unauthorized'
    expect((await fetch({ commit: hash }, davit)).commit.hash).toBe(hash)
  })

  test('is found in its branch where the server gives only branches', async () => {
    const hash = commitFiles(repository, { a: '1' })
    commitFiles(repository, { a: '2' })
    const davit = connect()
    server.mode = 'no hashes'
    await fetch({}, davit)
    expect((await fetch({ commit: hash }, davit)).commit.hash).toBe(hash)
    expect(await failure({ commit: 'a'.repeat(40) }, davit)).toMatchObject({
      code: 'unknown_commit',
    })
  })

  test('that does not exist is said to be missing', async () => {
    commitFiles(repository, { a: '1' })
    const error = await failure({ commit: 'abcdef0123'.repeat(4) })
    expect(error).toMatchObject({
      code: 'unknown_commit',
      message: expect.stringContaining('abcdef012'),
    })
  })

  test.each(["HEAD'; id; #", '--all', 'abc', 'a'.repeat(41)])('%p is none', async (commit) => {
    expect(await failure({ commit })).toMatchObject({ code: 'unknown_commit' })
  })
})

describe('a mirror', () => {
  const damages: [string, (mirror: string) => void][] = [
    ['lost its HEAD', (mirror) => rmSync(join(mirror, 'HEAD'))],
    ['has a stale shallow.lock', (mirror) => writeFileSync(join(mirror, 'shallow.lock'), '')],
    [
      'has a stale lock of its branch',
      (mirror) => writeFileSync(join(mirror, 'refs/davit/heads/main.lock'), ''),
    ],
    ['was half made', (mirror) => rmSync(join(mirror, 'davit-sound-2'))],
    ['has an empty ref', (mirror) => truncateSync(join(mirror, 'refs/davit/heads/main'))],
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
  test('that wants a password is a failure at once, without a prompt', async () => {
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
      message: `The repository 127.0.0.1/app${turn}.git takes more than 1.0 MiB on disk.`,
      hint: expect.stringContaining('DAVIT_REPOSITORY_SIZE'),
    })
    expect(readdirSync(join(dataDir, 'mirrors'))).toEqual([])
    await fetch()
  })

  test('whose old commits take too much is fetched anew without them', async () => {
    const small = connect({ repositorySize: 2 ** 20, look: 2 })
    for (const big of ['first', 'second', 'third']) {
      commitFiles(repository, { big: big + randomText(2 ** 19) })
      await fetch({}, small)
    }
    expect(lines).toContain('The mirror of this repository has become too large: fetching it anew.')
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

  test('without that repository is said to have none', async () => {
    const error = await failure({ url: `${server.url}nothing.git` })
    expect(error).toMatchObject({ code: 'repository_not_found' })
    expect(error.message).toContain('/nothing.git')
  })

  test('that nothing listens at cannot be reached', async () => {
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

function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + Bun.file(join(entry.parentPath, entry.name)).size, 0)
}

/** Nothing makes it smaller. */
const randomText = (length: number) =>
  Array.from({ length: length / 65_536 }, () =>
    crypto.getRandomValues(new Uint8Array(49_152)).toBase64(),
  ).join('')
