import { describe, expect, test } from 'bun:test'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitFiles, git } from '../support/git-server.ts'
import {
  connect,
  dir,
  failure,
  fetch,
  lines,
  repository,
  served,
  server,
  sizeOf,
  turn,
  url,
  serveRepositories,
} from './fetching.ts'

serveRepositories()

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

  test('that no one named is the one the remote’s HEAD names', async () => {
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

  test('may be where a folder of branches was, and the other way round', async () => {
    const davit = connect()
    const names = ['release', 'release/v2', 'release/v2/x', 'release/v2', 'release', 'HEAD/x']
    for (const branch of names) {
      const there = git(repository, ['for-each-ref', '--format=%(refname)']).split('\n')
      for (const old of there.filter(Boolean)) git(repository, ['update-ref', '-d', old])
      const hash = commitFiles(repository, { branch }, { branch })
      expect((await fetch({ branch }, davit)).commit.hash).toBe(hash)
    }
    expect(lines.filter((line) => line.includes('mirror'))).toEqual([])
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
      message: expect.stringContaining('doesn’t name a commit'),
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
