import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'bun:test'
import { commitFiles, git, ownDockerfile } from '../support/git-server.ts'
import { until } from '../support/until.ts'
import {
  aRepository,
  dataDir,
  davit,
  dir,
  Dockerfile,
  lines,
  log,
  signal,
  serveContexts,
} from './contexts.ts'

serveContexts()

let turn = 0

/** The context of a build that gets `.git`, unpacked. */
async function unpacked(
  url: string,
  { branch = 'main' as string | null, contextDir = '.', meanwhile = async () => {} } = {},
) {
  const snapshot = await davit.fetch({ url, branch, commit: null, history: true, signal, log })
  await meanwhile()
  const context = await davit.context(snapshot, { contextDir, ...ownDockerfile, signal, log })
  const target = join(dir, `cloned${++turn}`)
  mkdirSync(target)
  const tar = await new Response(await davit.archive(context, { signal })).arrayBuffer()
  const stdin = new Uint8Array(tar)
  const { exitCode } = Bun.spawnSync(['tar', '-x', '-C', target], { stdin })
  expect(exitCode).toBe(0)
  return { target, git: (...args: string[]) => git(target, args) }
}

function aTaggedRepository(more = {}) {
  const repository = aRepository({ Dockerfile, 'app/Dockerfile': Dockerfile, ...more })
  git(repository.path, ['tag', '-a', '-m', 'One', 'v1.0'])
  git(repository.path, ['tag', 'light'])
  commitFiles(repository.path, { a: '2' })
  const head = commitFiles(repository.path, { a: '3' })
  return { ...repository, head }
}

describe('the .git of a build', () => {
  test('has the history and the tags, and finds nothing changed', async () => {
    const { url, head } = aTaggedRepository()
    const t = await unpacked(url)
    expect(t.git('describe', '--dirty')).toBe(`v1.0-2-g${head.slice(0, 7)}`)
    expect(t.git('rev-parse', 'HEAD')).toBe(head)
    expect(t.git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('main')
    expect(t.git('rev-list', '--count', 'HEAD')).toBe('3')
    expect(t.git('tag', '--list')).toBe('light\nv1.0')
    expect(t.git('status', '--porcelain')).toBe('')
    expect(t.git('remote', 'get-url', 'origin')).toBe(url)
    expect(t.git('fsck', '--strict')).toBe('')
  })

  test('has a branch of any name', async () => {
    const branch = `a/${'ä'.repeat(120)}/b`
    const { path, url } = aTaggedRepository()
    commitFiles(path, { b: '1', Dockerfile }, { branch })
    const t = await unpacked(url, { branch })
    expect(t.git('-c', 'core.quotePath=false', 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(branch)
  })

  test('ends with a build that is cancelled', async () => {
    const { url } = aTaggedRepository()
    const what = { url, branch: 'main', commit: null, history: true, signal, log }
    const snapshot = await davit.fetch(what)
    const place = { contextDir: '.', ...ownDockerfile, signal, log }
    const archive = await davit.archive(await davit.context(snapshot, place), { signal })
    const reader = archive.getReader()
    await reader.read()
    await reader.cancel()
    await until(() => readdirSync(join(dataDir, 'git-home/git-directories')).length === 0)
  })

  test('has them where the commit was fetched alone before', async () => {
    const { url, head } = aTaggedRepository()
    await davit.fetch({ url, branch: 'main', commit: null, signal, log })
    await davit.fetch({ url, branch: 'main', commit: head, signal, log })
    const t = await unpacked(url, { branch: null })
    expect(t.git('rev-list', '--count', 'HEAD')).toBe('3')
    expect(t.git('describe')).toStartWith('v1.0-2-')
  })

  test('has them though the repository is fetched without them before the build begins', async () => {
    const { url } = aTaggedRepository()
    const meanwhile = async () => {
      await davit.fetch({ url, branch: 'main', commit: null, signal, log })
    }
    const t = await unpacked(url, { meanwhile })
    expect(t.git('rev-list', '--count', 'HEAD')).toBe('3')
    expect(t.git('describe')).toStartWith('v1.0-2-')
  })

  test('comes from a mirror that knows the paths of its commits too, and goes with the others', async () => {
    const { url, head: commit } = aTaggedRepository()
    await unpacked(url)
    const paths = await davit.pathsOf({ url, commit, signal })
    expect(paths?.split('\0')).toContain('app/Dockerfile')
    await davit.removeMirror(url)
    expect(await davit.pathsOf({ url, commit, signal })).toBeNull()
  })

  test('of a tag has no branch, and follows a tag that became the folder of others', async () => {
    const { url, path, head, commit } = aTaggedRepository()
    const t = await unpacked(url, { branch: 'v1.0' })
    expect(t.git('rev-parse', 'HEAD')).toBe(commit)
    expect(t.git('describe', '--exact-match')).toBe('v1.0')
    expect(t.git('branch', '--list', 'v1.0')).toBe('')
    git(path, ['tag', '-d', 'light'])
    git(path, ['tag', 'light/er'])
    const again = await unpacked(url)
    expect(again.git('tag', '--points-at', head)).toBe('light/er')
    expect(lines.filter((line) => line.includes('mirror'))).toEqual([])
  })

  test('goes with its context, unless a .dockerignore excludes it', async () => {
    const { url } = aTaggedRepository({ 'app/.dockerignore': 'b\n.git' })
    const t = await unpacked(url, { contextDir: 'app' })
    expect(await Bun.file(join(t.target, '.git/HEAD')).exists()).toBe(false)
    expect(lines).toContain('The build gets no .git, because app/.dockerignore excludes it.')
    const ignoring = aTaggedRepository({ '.dockerignore': '*\n!.git' })
    expect((await unpacked(ignoring.url)).git('describe')).toStartWith('v1.0-')
  })

  test('loses the tags that were deleted, to the last one', async () => {
    const { url, path } = aTaggedRepository()
    await unpacked(url)
    git(path, ['tag', '-d', 'light'])
    expect((await unpacked(url)).git('tag', '--list')).toBe('v1.0')
    git(path, ['tag', '-d', 'v1.0'])
    expect((await unpacked(url)).git('tag', '--list')).toBe('')
  })

  test('of a repository with SHA-256 hashes is one too', async () => {
    const { path, url } = aRepository({})
    Bun.spawnSync(['rm', '-r', path])
    git(dir, ['init', '-q', '--bare', '-b', 'main', '--object-format=sha256', path])
    const hash = commitFiles(path, { Dockerfile })
    expect((await unpacked(url)).git('rev-parse', 'HEAD')).toBe(hash)
  })
})
