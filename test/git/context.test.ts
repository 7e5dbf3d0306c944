import { describe, expect, test } from 'bun:test'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectGit } from '../../src/git/git.ts'
import type { Snapshot } from '../../src/git/tools.ts'
import { commitFiles, git, type Files, ownDockerfile } from '../support/git-server.ts'
import { aRepository, contextOf, davit, Dockerfile, failure, fetch } from './contexts.ts'
import { lines, log, options, signal, unpack, dir, serveContexts } from './contexts.ts'

serveContexts()

/** A tree of 100 entries that are all the same. */
function hundredOf(path: string, entry: string) {
  const lines = Array.from({ length: 100 }, (_, n) => `${entry}\tn${n}\n`).join('')
  const stdin = Buffer.from(lines)
  return Bun.spawnSync(['git', '-C', path, 'mktree'], { stdin }).stdout.toString().trim()
}

describe('a context that is too large is refused', () => {
  test('by the bytes of its files, however small they are in the repository', async () => {
    const { url } = aRepository({ Dockerfile, zeros: '\0'.repeat(2 ** 21), '.dockerignore': 'x' })
    const small = connectGit({ ...options, repositorySize: 2 ** 20 })
    const snapshot = await small.fetch({ url, branch: 'main', commit: null, signal, log })
    const context = small.context(snapshot, { contextDir: '.', ...ownDockerfile, signal, log })
    expect(await context.catch((error) => error)).toMatchObject({
      code: 'context_too_large',
      message: 'The build would see 2.0 MiB of files, of at most 1.0 MiB.',
    })
  })

  test('by their number, which few objects can make endless', async () => {
    const { url, path } = aRepository({ Dockerfile })
    const blob = git(path, ['rev-parse', 'main:Dockerfile']).trim()
    const file = `100644 blob ${blob}\tDockerfile\n`
    let tree = hundredOf(path, `100644 blob ${blob}`)
    const root = (inside: string) => {
      const stdin = Buffer.from(`${file}${inside}`)
      const made = Bun.spawnSync(['git', '-C', path, 'mktree'], { stdin }).stdout.toString().trim()
      const commit = git(path, ['commit-tree', '-m', 'bomb', made]).trim()
      git(path, ['update-ref', 'refs/heads/main', commit])
    }
    tree = hundredOf(path, `040000 tree ${tree}`)
    root(Array.from({ length: 11 }, (_, n) => `040000 tree ${tree}\td${n}\n`).join(''))
    expect(await failure(url)).toMatchObject({
      code: 'context_too_large',
      message: 'The build would see 110,001 files, of at most 100,000.',
    })
    for (let depth = 0; depth < 3; depth++) tree = hundredOf(path, `040000 tree ${tree}`)
    root(`040000 tree ${tree}\tbomb\n`)
    expect(await failure(url)).toMatchObject({ code: 'repository_too_large' })
  })
})

describe('the files of a context', () => {
  test('are those of the commit, as they were committed', async () => {
    const { url, commit } = aRepository({
      Dockerfile,
      'a b/ü "x".txt': 'text',
      link: { to: '/etc/shadow' },
      '.gitattributes': '* export-subst\nsecret export-ignore\n',
      secret: 'kept',
      id: '$Format:%H$',
    })
    const { context, files, target } = await unpack(url)
    expect(context).toMatchObject({ tree: commit, dockerfile: 'Dockerfile', alternates: [] })
    expect(files).toContain('secret')
    expect(await Bun.file(join(target, 'id')).text()).toBe('$Format:%H$')
    expect(await Bun.file(join(target, 'a b/ü "x".txt')).text()).toBe('text')
    expect(git(target, ['hash-object', '--no-filters', 'Dockerfile'])).toHaveLength(40)
  })

  test('are without what .dockerignore leaves out, which itself is sent', async () => {
    const { url } = aRepository({
      Dockerfile,
      '.dockerignore': '# all but src\n*\n!src\nsrc/**/*.md\n',
      'src/a.ts': 'a',
      'src/docs/b.md': 'b',
      'other/c': 'c',
      README: 'r',
    })
    const { files, context } = await unpack(url)
    expect(files).toEqual(['.dockerignore', 'Dockerfile', 'src/a.ts'])
    expect(context.files).toBe(3)
  })

  test('follow <Dockerfile>.dockerignore before .dockerignore', async () => {
    const { url } = aRepository({
      'docker/web': Dockerfile,
      'docker/web.dockerignore': 'b\n',
      '.dockerignore': 'a\n',
      a: 'a',
      b: 'b',
    })
    const { files } = await unpack(url, { dockerfilePath: 'docker/web' })
    expect(files).toEqual(['.dockerignore', 'a', 'docker/web', 'docker/web.dockerignore'])
  })

  test('are those of the context folder', async () => {
    const { url } = aRepository({ 'apps/web/Dockerfile': Dockerfile, 'apps/web/x': 'x', y: 'y' })
    const { files, context } = await unpack(url, { contextDir: './apps//web/' })
    expect(files).toEqual(['Dockerfile', 'x'])
    expect(context.dockerfile).toBe('Dockerfile')
  })

  test('include a Dockerfile that lies outside of the folder', async () => {
    const { url } = aRepository({
      'docker/Dockerfile': Dockerfile,
      'app/x': 'x',
      'app/.dockerignore': '*\n!x\n',
      'app/.davit.Dockerfile': 'taken',
    })
    const paths = { contextDir: 'app', dockerfilePath: 'docker/Dockerfile' }
    const { files, context, target } = await unpack(url, paths)
    expect(files).toEqual(['.davit.Dockerfile', '.dockerignore', 'x'])
    expect(context.dockerfile).toBe('.davit.Dockerfile')
    expect(await Bun.file(join(target, context.dockerfile)).text()).toBe(Dockerfile)
  })

  test('leave a name for a Dockerfile that nothing in them has', async () => {
    const files = { Dockerfile, 'app/.davit.Dockerfile/x': 'x', '.davit.Dockerfile': 'taken' }
    const { url } = aRepository(files)
    expect((await contextOf(url)).spareName).toBe('.davit.davit.Dockerfile')
    const paths = { contextDir: 'app', dockerfilePath: 'Dockerfile' }
    const { dockerfile, spareName } = await contextOf(url, paths)
    expect([dockerfile, spareName]).toEqual([
      '.davit.davit.Dockerfile',
      '.davit.davit.davit.Dockerfile',
    ])
  })

  test('have the Dockerfile that was read, whatever the repository says of its encoding', async () => {
    const { url } = aRepository({
      '.gitattributes': 'Dockerfile working-tree-encoding=UTF-16BE\n',
      Dockerfile: Buffer.from('FROM busybox \n').swap16().toString('utf16le'), // which git would write as that
      'sub/.gitattributes': 'x ident\n',
      'sub/x': '$Id$',
    })
    const { context, target } = await unpack(url)
    const sent = await Bun.file(join(target, 'Dockerfile')).text()
    expect(sent).toBe(await davit.readDockerfile(context, { signal }))
    expect(sent).not.toContain('FROM')
    expect(await Bun.file(join(target, 'sub/x')).text()).toBe('$Id$')
  })

  test('keep one date, whichever way they come', async () => {
    const { url, path } = aRepository({
      Dockerfile,
      'app/Dockerfile': Dockerfile,
      '.dockerignore': 'b',
    })
    commitFiles(path, { b: 'b' })
    const date = Number(git(path, ['log', '-1', '--format=%ct', 'main']))
    for (const contextDir of ['.', 'app']) {
      const { target } = await unpack(url, { contextDir })
      expect(Bun.file(join(target, 'Dockerfile')).lastModified).toBe(date * 1000)
    }
  })

  test('never include a folder .git, whoever committed it', async () => {
    const { url, path } = aRepository({ Dockerfile })
    const blob = git(path, ['rev-parse', 'main:Dockerfile'])
    const tree = Bun.spawnSync(['git', '-C', path, 'mktree'], {
      stdin: Buffer.from(`100644 blob ${blob}\tconfig\n`),
    })
    const top = Bun.spawnSync(['git', '-C', path, 'mktree'], {
      stdin: Buffer.from(
        `040000 tree ${tree.stdout.toString().trim()}\t.git\n100644 blob ${blob}\tDockerfile\n`,
      ),
    })
    const commit = git(path, ['commit-tree', '-m', 'x', top.stdout.toString().trim()])
    git(path, ['update-ref', 'refs/heads/main', commit])
    expect((await unpack(url)).files).toEqual(['Dockerfile'])
  })

  test('may have names that are not UTF-8', async () => {
    const { url, path } = aRepository({ Dockerfile, '.dockerignore': 'x', x: 'x' })
    const tree = Bun.spawnSync(['git', '-C', path, 'ls-tree', '-z', 'main']).stdout
    const blob = git(path, ['rev-parse', 'main:x'])
    const odd = Buffer.from(`100644 blob ${blob}\tn\xffme\0`, 'latin1')
    const top = Bun.spawnSync(['git', '-C', path, 'mktree', '-z'], {
      stdin: Buffer.concat([tree, odd]),
    })
    const commit = git(path, ['commit-tree', '-m', 'x', top.stdout.toString().trim()])
    git(path, ['update-ref', 'refs/heads/main', commit])
    const context = await contextOf(url)
    const tar = Buffer.from(
      await new Response(await davit.archive(context, { signal })).arrayBuffer(),
    )
    expect(context.files).toBe(3)
    expect(tar.includes(Buffer.from('n\xffme', 'latin1'))).toBe(true)
  })

  test('run nothing that the repository configures', async () => {
    const marker = join(dir, 'ran')
    const { url } = aRepository({
      Dockerfile,
      '.gitattributes': '* filter=evil diff=evil\n',
      '.lfsconfig': `[filter "evil"]\n\tsmudge = touch ${marker}\n`,
      '.githooks/post-checkout': `#!/bin/sh\ntouch ${marker}\n`,
      '.gitconfig': `[core]\n\tfsmonitor = touch ${marker}\n\thooksPath = .githooks\n`,
      '.dockerignore': 'x',
      x: 'x',
    })
    await unpack(url)
    expect(existsSync(marker)).toBe(false)
  })

  test('in Git LFS stay pointers, and the log says so', async () => {
    const { url } = aRepository({ Dockerfile, '.gitattributes': '*.psd filter=lfs diff=lfs\n' })
    await contextOf(url)
    expect(lines.filter((line) => line.includes('LFS'))).toHaveLength(1)
  })

  test('may be large', async () => {
    const files: Files = { Dockerfile, '.dockerignore': 'skip*' }
    for (let i = 0; i < 10; i++) files[`f${i}`] = Buffer.alloc(1024 * 1024, i).toString('latin1')
    const { url } = aRepository(files)
    const context = await contextOf(url)
    const stream = await davit.archive(context, { signal })
    let size = 0
    for await (const chunk of stream) size += chunk.length
    expect(size).toBeGreaterThan(10 * 1024 * 1024)
  })
})

describe('an archive', () => {
  test('ends with the signal, and its git with it', async () => {
    const files: Files = { Dockerfile }
    for (let i = 0; i < 8; i++) files[`f${i}`] = Buffer.alloc(1024 * 1024, i).toString('latin1')
    const { url } = aRepository(files)
    const cancel = new AbortController()
    const stream = await davit.archive(await contextOf(url), { signal: cancel.signal })
    const reader = stream.getReader()
    await reader.read()
    cancel.abort(new Error('Cancelled.'))
    const rest = (async () => {
      while (!(await reader.read()).done);
    })()
    expect(await rest.catch((error) => error)).toMatchObject({ message: 'Cancelled.' })
  })

  test('of a damaged mirror fails, and the next fetch recreates it', async () => {
    const { url } = aRepository({ Dockerfile })
    const context = await contextOf(url)
    damageBlob(context.mirror, `${context.tree}:Dockerfile`)
    const read = new Response(await davit.archive(context, { signal })).text()
    expect(await read.catch((error) => error)).toMatchObject({ code: 'git_failed' })
    expect((await unpack(url)).files).toEqual(['Dockerfile'])
  })
})

test('a tree that can’t be read is fetched again at once', async () => {
  const { url } = aRepository({ Dockerfile, 'a/b': 'c' })
  const snapshot: Snapshot = await fetch(url)
  damageBlob(snapshot.mirror, `${snapshot.commit.hash}:a`)
  const options = { contextDir: '.', ...ownDockerfile, signal, log }
  expect((await davit.context(snapshot, options)).files).toBe(2)
})

/** Empties one object of a mirror, as a power cut may. */
function damageBlob(mirror: string, object: string) {
  const hash = git(mirror, ['rev-parse', object])
  const file = join(mirror, 'objects', hash.slice(0, 2), hash.slice(2))
  rmSync(file)
  writeFileSync(file, '')
}

describe('the Procfile of a context', () => {
  const procfileOf = async (files: Files, contextDir = '.') =>
    (await contextOf(aRepository({ 'app/Dockerfile': Dockerfile, ...files }).url, { contextDir }))
      .procfile

  test('is that of its directory, whatever the build leaves out', async () => {
    const files = {
      Procfile: 'web: of the root',
      'app/Procfile': 'web: of the app',
      'app/.dockerignore': 'Procfile',
    }
    expect(await procfileOf(files, 'app')).toBe('web: of the app')
    expect(await procfileOf({ ...files, Dockerfile })).toBe('web: of the root')
  })

  test('is none where it is a link, a directory or too large; the build sees to the rest', async () => {
    expect(await procfileOf({}, 'app')).toBeNull()
    expect(await procfileOf({ 'app/Procfile': { to: '/etc/passwd' } }, 'app')).toBeNull()
    expect(await procfileOf({ 'app/Procfile/web': 'x' }, 'app')).toBeNull()
    expect(await procfileOf({ 'app/Procfile': 'web: x\n'.repeat(4096) }, 'app')).toBeNull()
    expect(lines).toContain('The Procfile is larger than 16 KiB and was not read.')
  })
})
