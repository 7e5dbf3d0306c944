import { describe, expect, onTestFinished, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { deployments } from '../../src/db/schema.ts'
import { aFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { keptBy } from '../deployments/uploading.ts'
import { aLaptop, onTerminal, withServer } from './laptop.ts'

describe('deploy', () => {
  test('sends what git tracks as it is on disk, and ends with the address of the app', async () => {
    const { ada, project, davit, write, git, kept } = await withServer()
    const { status, stdout, stderr } = await davit(['deploy', '--json'])
    expect(status).toBe(0)
    const first = JSON.parse(stdout)
    const commit = git('rev-parse', 'HEAD')
    const about = { commit, message: 'A page', dirty: false, files: 2 }
    expect(first).toMatchObject({ status: 'running', branch: 'main', upload: about })
    expect(stderr).toContain('Running at')
    expect(stderr).not.toContain('\u001b')

    await write({ 'www/index.html': 'changed', 'www/new.html': 'untracked' })
    const tracked = await davit(['deploy'])
    expect([tracked.status, tracked.stdout]).toEqual([0, `${first.url}\n`])
    expect(tracked.stderr).toContain('1 file that git doesn’t track')
    await write({ '.gitignore': 'secret.env\n', 'secret.env': 'KEY=1' })
    expect((await davit(['deploy', '--dirty'])).status).toBe(0)
    const { items } = (await ada.get(`/projects/${project.id}/deployments`)).json
    expect(items.map((one: any) => [one.upload.dirty, one.upload.files])).toEqual([
      [true, 4],
      [true, 2],
      [false, 2],
    ])
    await until(() => kept().length === 0)
  })

  test('has colours on a terminal only, and none where they are not wanted', async () => {
    const { start } = await withServer()
    for (const [env, isColoured] of [
      [{}, true],
      [{ NO_COLOR: '1' }, false],
    ] as const) {
      const terminal = onTerminal(start(['deploy'], { env }))
      expect(await terminal.child.exited).toBe(0)
      await terminal.shows('is running.')
      expect(/\u001b\[32mDeployment/.test(terminal.text)).toBe(isColoured)
    }
  })

  test('that fails ends with 1 and the reason, and detached with its page', async () => {
    const { t, davit, address, project } = await withServer()
    t.faults.buildImage = () => {
      throw new Error('no engine')
    }
    const failed = await davit(['deploy'])
    expect([failed.status, failed.stdout]).toEqual([1, ''])
    expect(failed.stderr).toContain('failed')
    const detached = await davit(['deploy', '--detach'])
    expect(detached.status).toBe(0)
    expect(detached.stdout).toStartWith(`${address}/projects/${project.id}/deployments/`)
  })

  test('goes on after Ctrl-C, which says how to cancel it', async () => {
    const { t, ada, project, start, davit } = await withServer({ jobsWait: true })
    const child = Bun.spawn({
      ...start(['deploy']),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const isFollowed = () =>
      t.db.select().from(deployments).all().length === 1 && t.streams.size === 1
    await until(isFollowed)
    child.kill('SIGINT')
    const said = await child.stderr.text()
    expect(await child.exited).toBe(130)
    expect(said).toContain('davit cancel')
    const [{ status }] = (await ada.get(`/projects/${project.id}/deployments`)).json.items
    expect(status).toBe('pending')
    expect((await davit(['cancel'])).status).toBe(0)
    expect((await davit(['cancel'])).status).toBe(1)
    await until(() => keptBy(t).length === 0)
  })

  test('cancels a commit that waits for its checks', async () => {
    const { t, davit } = await withServer({ jobsWait: true })
    expect((await davit(['deploy', '--detach'])).status).toBe(0)
    t.db.update(deployments).set({ status: 'waiting' }).run()
    expect((await davit(['cancel'])).status).toBe(0)
    expect(t.db.select().from(deployments).get()?.status).toBe('cancelled')
  })

  test('keeps links and rights, and leaves out what was deleted', async () => {
    const { t, davit, write, git, folder } = await withServer()
    await write({ 'run.sh': '#!/bin/sh\n', gone: '', [`${'d'.repeat(120)}/ü`]: 'long' })
    chmodSync(`${folder}/run.sh`, 0o755)
    Bun.spawnSync(['ln', '-s', '/etc/hostname', `${folder}/link`])
    Bun.spawnSync(['ln', '-s', 'x'.repeat(150), `${folder}/far`])
    git('add', '.')
    Bun.spawnSync(['rm', `${folder}/gone`])
    const listed = Promise.withResolvers<string>()
    t.faults.buildImage = async function* ({ context }) {
      const stdin = new Uint8Array(await new Response(context).arrayBuffer())
      listed.resolve(Bun.spawnSync(['tar', '-tv'], { stdin }).stdout.toString())
      throw new Error('seen')
    }
    await davit(['deploy'])
    const lines = (await listed.promise).split('\n')
    const of = (end: string) => lines.find((line) => line.endsWith(end))
    expect(of(' run.sh')).toStartWith('-rwx')
    expect(of('link -> /etc/hostname')).toBeDefined()
    expect(of(`far -> ${'x'.repeat(150)}`)).toBeDefined()
    expect(lines.filter((line) => line.includes('ddd') && !line.endsWith('/'))).toHaveLength(1)
    expect(of(' gone')).toBeUndefined()
  })

  test('resumes its log where the connection was lost', async () => {
    const { davit, address, token, git } = await withServer()
    let cuts = 0
    const asked: (string | null)[] = []
    const relay = Bun.serve({
      port: 0,
      idleTimeout: 0,
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        const { headers, method, body } = request
        const {
          body: answer,
          status,
          headers: got,
        } = await fetch(address + pathname + search, {
          ...{ headers, method, body },
        })
        const given = { status, headers: { 'Content-Type': got.get('Content-Type')! } }
        if (!pathname.endsWith('/logs')) return new Response(answer, given)
        asked.push(headers.get('Last-Event-ID'))
        if (cuts++ > 0) return new Response(answer, given)
        const reader = answer!.getReader()
        let text = ''
        while (!text.includes('id: 2')) text += Buffer.from((await reader.read()).value!).toString()
        await reader.cancel()
        return new Response(text.slice(0, text.indexOf('id: 2')), given)
      },
    })
    onTestFinished(() => relay.stop(true))
    const env = { DAVIT_SERVER: relay.url.origin, DAVIT_TOKEN: token }
    const { status, stderr } = await davit(['deploy'], { env })
    expect([status, asked]).toEqual([0, ['0', '1']])
    expect(stderr.split('\n').filter((line) => line.startsWith('Uploaded by'))).toHaveLength(1)
    expect(stderr).toContain(git('rev-parse', '--short=7', 'HEAD'))
  })

  test('refuses a folder that is no repository, an empty one, and a sparse one', async () => {
    const { davit, write, git, kept } = await withServer({ jobsWait: true })
    expect((await davit(['deploy'], { cwd: aFolder() })).status).toBe(1)
    await write({ 'other/file': '' })
    git('add', '.')
    git('commit', '--quiet', '-m', 'more')
    git('sparse-checkout', 'set', 'www')
    const sparse = await davit(['deploy'])
    expect([sparse.status, sparse.stderr]).toEqual([1, expect.stringContaining('sparse')])
    git('sparse-checkout', 'disable')
    git('rm', '--quiet', '-r', '--cached', '.')
    expect((await davit(['deploy'])).status).toBe(1)
    expect(kept()).toEqual([])
  })

  test('sends the files of submodules, and works in a repository without a commit', async () => {
    const { ada, project, davit, git, write } = await withServer()
    const other = aLaptop()
    await other.write({ inside: 'x' })
    other.git('init', '--quiet')
    other.git('add', '.')
    other.git('commit', '--quiet', '-m', 'x')
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.folder, 'sub')
    expect((await davit(['deploy'])).status).toBe(0)
    const [{ upload }] = (await ada.get(`/projects/${project.id}/deployments`)).json.items
    expect(upload).toMatchObject({ files: 4, dirty: true })
    git('update-ref', '-d', 'HEAD')
    await write({ 'www/index.html': 'more' })
    expect((await davit(['deploy'])).status).toBe(0)
    const [last] = (await ada.get(`/projects/${project.id}/deployments`)).json.items
    expect(last.upload).toMatchObject({ commit: null, message: null })
  })
})

test('two uploads of a project at once both arrive, and the later one stays', async () => {
  const { t, ada, project, davit } = await withServer({ jobsWait: true })
  const both = await Promise.all([davit(['deploy', '--detach']), davit(['deploy', '--detach'])])
  expect(both.map(({ status }) => status)).toEqual([0, 0])
  const { items } = (await ada.get(`/projects/${project.id}/deployments`)).json
  expect(items.map(({ status }: any) => status)).toEqual(['pending', 'superseded'])
  expect(keptBy(t)).toHaveLength(1)
})
