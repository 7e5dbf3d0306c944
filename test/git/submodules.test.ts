import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectGit } from '../../src/git/git.ts'
import {
  commitFiles,
  type Files,
  git,
  makeRepository,
  startGitServer,
  ownDockerfile,
} from '../support/git-server.ts'

const dir = mkdtempSync(join(tmpdir(), 'davit-submodules-'))
const served = join(dir, 'served')
const server = startGitServer(served)
const davit = connectGit({
  dataDir: join(dir, 'data'),
  allowHosts: ['127.0.0.1'],
  allowLocalRepos: true,
})
const signal = new AbortController().signal
let turn = 0
let lines: string[] = []

afterAll(() => {
  server.stop()
  rmSync(dir, { recursive: true, force: true })
})

const Dockerfile = 'FROM busybox\n'

function aRepository(files: Files, name = `group/r${++turn}.git`) {
  const path = makeRepository(served, name)
  return { path, name, url: `${server.url}${name}`, commit: commitFiles(path, files) }
}

const gitmodules = (path: string, url: string) =>
  `[submodule "any name"]\n\tpath = ${path}\n\turl = ${url}\n\tupdate = !touch /nowhere\n`

async function contextOf(url: string, contextDir = '.') {
  lines = []
  const log = (line: string) => void lines.push(line)
  const snapshot = await davit.fetch({ url, branch: null, commit: null, signal, log })
  return davit.context(snapshot, { contextDir, ...ownDockerfile, signal, log })
}

async function filesOf(url: string, contextDir?: string) {
  const context = await contextOf(url, contextDir)
  const tar = await new Response(await davit.archive(context, { signal })).arrayBuffer()
  const child = Bun.spawnSync(['tar', '-tf', '-'], { stdin: new Uint8Array(tar) })
  return child.stdout
    .toString()
    .split('\n')
    .filter((path) => path && !path.endsWith('/'))
    .sort()
}

const failure = (url: string) =>
  contextOf(url).then(
    () => Promise.reject(new Error('It worked.')),
    (error) => error,
  )

describe('submodules', () => {
  test('are merged in at the exact commit, relative URLs and nested ones too', async () => {
    const inner = aRepository({ deep: '1' })
    const middle = aRepository({
      '.gitmodules': gitmodules('vendor/inner', `../${inner.name.slice(6)}`),
      'vendor/inner': { commit: inner.commit },
      old: '1',
    })
    commitFiles(middle.path, { new: '2' })
    const outer = aRepository({
      Dockerfile,
      '.gitmodules': gitmodules('lib/middle', middle.url),
      'lib/middle': { commit: middle.commit },
      '.dockerignore': '**/.gitmodules',
    })
    expect(await filesOf(outer.url)).toEqual([
      '.dockerignore',
      'Dockerfile',
      'lib/middle/old',
      'lib/middle/vendor/inner/deep',
    ])
    expect(lines).toContain(`Fetching the submodule lib/middle at ${middle.commit.slice(0, 12)}`)
  })

  test('may hold the context and the Dockerfile', async () => {
    const inner = aRepository({ Dockerfile, x: 'x' })
    const outer = aRepository({
      '.gitmodules': gitmodules('app', inner.url),
      app: { commit: inner.commit },
    })
    expect(await filesOf(outer.url, 'app')).toEqual(['Dockerfile', 'x'])
  })

  test('without a URL leave an empty folder, and the log says so', async () => {
    const outer = aRepository({ Dockerfile, lib: { commit: 'a'.repeat(40) } })
    expect(await filesOf(outer.url)).toEqual(['Dockerfile'])
    expect(lines.join()).toContain('lib has no URL')
  })

  test.each([
    ['ext::sh -c touch% MARKER', 'repository_refused'],
    ['--upload-pack=touch MARKER', 'repository_refused'],
    ['-oProxyCommand=touch MARKER', 'repository_refused'],
    ['ssh://-oProxyCommand=touch%20MARKER/x', 'repository_refused'],
    ['file:///etc', 'submodule_refused'],
    ['/etc', 'submodule_refused'],
    ['../../../../../etc', 'submodule_refused'],
    ['http://10.1.2.3/x.git', 'host_refused'],
    ['https://user:secret@example.com/x.git', 'repository_refused'],
  ])('at %s are refused', async (written, code) => {
    const marker = join(dir, 'marker')
    const outer = aRepository({
      Dockerfile,
      '.gitmodules': gitmodules('lib', `"${written.replace('MARKER', marker)}"`),
      lib: { commit: 'a'.repeat(40) },
    })
    const error = await failure(outer.url)
    expect(error).toMatchObject({ code })
    expect(error.message).toContain('lib')
    expect(error.message).not.toContain('secret@')
    expect(existsSync(marker)).toBe(false)
  })

  test('whose path ends with a carriage return are not those of .gitmodules', async () => {
    const inner = aRepository({ x: 'x' })
    const outer = aRepository({
      Dockerfile,
      '.gitmodules': gitmodules('"lib\r"', inner.url),
      lib: { commit: inner.commit },
    })
    expect(await filesOf(outer.url)).toEqual(['.gitmodules', 'Dockerfile'])
  })

  test('at a commit that does not exist are a failure that names the submodule', async () => {
    const inner = aRepository({ x: 'x' })
    const outer = aRepository({
      Dockerfile,
      '.gitmodules': gitmodules('lib', inner.url),
      lib: { commit: 'b'.repeat(40) },
    })
    expect(await failure(outer.url)).toMatchObject({
      code: 'unknown_commit',
      message: expect.stringContaining('The submodule lib: '),
    })
  })

  test('nest five deep and no deeper', async () => {
    let inner = aRepository({ x: 'x' })
    const around = (below: typeof inner) =>
      aRepository({
        Dockerfile,
        '.gitmodules': gitmodules('s', below.url),
        s: { commit: below.commit },
      })
    for (let i = 0; i < 5; i++) inner = around(inner)
    expect(await filesOf(inner.url)).toContain('s/s/s/s/s/x')
    expect(await failure(around(inner).url)).toMatchObject({ code: 'submodule_refused' })
  })

  test('come from a server that gives only branches, where one replaced a folder of others', async () => {
    server.mode = 'no hashes'
    const inner = aRepository({ x: '1' })
    const aLink = (commit: string) =>
      aRepository({
        Dockerfile,
        '.gitmodules': gitmodules('lib', inner.url),
        lib: { commit },
      })
    const behindTip = (branch: string, files: Files) => {
      const hash = commitFiles(inner.path, files, { branch })
      commitFiles(inner.path, { z: branch }, { branch })
      return hash
    }
    const begun = behindTip('release', { x: '2' })
    expect(await filesOf(aLink(begun).url)).toContain('lib/x')
    git(inner.path, ['update-ref', '-d', 'refs/heads/release'])
    const next = behindTip('release/v2', { y: '3' })
    expect(await filesOf(aLink(next).url)).toContain('lib/y')
    expect(lines.filter((line) => line.includes('mirror'))).toEqual([])
    server.mode = 'serve'
  })

  test('are followed where the server leads, and relative to the address that was asked for', async () => {
    const inner = aRepository({ x: 'x' }, 'group/inner.git')
    const gitlinks = { lib: { commit: inner.commit } }
    const modules = { '.gitmodules': gitmodules('lib', '../inner') }
    const outer = aRepository({ Dockerfile, ...modules, ...gitlinks })
    server.mode = {
      moved: { '/old/outer/': `/${outer.name}/`, '/old/inner/': '/group/inner.git/' },
    }
    expect(await filesOf(`${server.url}old/outer`)).toContain('lib/x')
    server.mode = 'serve'
  })

  test('of a .gitmodules that can’t be read are refused', async () => {
    const outer = aRepository({ Dockerfile, '.gitmodules': '[[[', lib: { commit: 'a'.repeat(40) } })
    expect(await failure(outer.url)).toMatchObject({ code: 'submodule_refused' })
  })
})
